"""`crag traces review`: what somebody decides about an answer."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Any, cast

from bot.cli.errors import UseError
from bot.cli.printing import line
from bot.settings import Settings
from bot.traces.reading import Trace, show_trace
from bot.traces.relevance import note_relevance
from bot.traces.reviews import Rating, Review, ReviewError, add_review
from bot.wiring import Database, embedder, local_embedder, open_database
from crag_graph.knowledge.demotions import Demotions

REVIEWER = "terminal"
"""Whoever has this machine; people of Slack have ids."""


def judgement(*, relevant: Sequence[str], not_relevant: Sequence[str], rating: str | None, **said: Any) -> Review:
    """Raises UseError."""
    both = set(relevant) & set(not_relevant)
    if both:
        raise UseError(f"Passage {min(both)} cannot be both relevant and not.")
    passages = dict.fromkeys(relevant, True) | dict.fromkeys(not_relevant, False)
    try:
        return Review(passages=passages, rating=cast("Rating | None", rating), **said)
    except ReviewError as error:
        raise UseError(str(error)) from error


async def review(settings: Settings, trace_id: str, given: Review, *, as_json: bool) -> int:
    async with open_database(settings) as database:
        trace = await show_trace(database.engine, trace_id)
        if trace is None or trace.run["erased_at"]:
            raise UseError(f"There is no trace {trace_id!r} to review. `crag traces list` shows which there are.")
        unknown = set(given.passages) - {passage["id"] for step in trace.steps for passage in _passages(step["detail"])}
        if unknown:
            raise UseError(f"The trace has no passage {min(unknown)}. `crag traces show {trace_id}` shows them.")
        await add_review(database.engine, given, team=None, trace=trace_id, reviewer=REVIEWER)
        if given.passages:
            await _note_relevance(settings, database, trace, given)
    print(line({"trace": trace_id, "reviewer": REVIEWER, **asdict(given)}) if as_json else "The review is stored.")
    return 0


async def _note_relevance(settings: Settings, database: Database, trace: Trace, given: Review) -> None:
    """What is said of passages counts in ranking as soon as a second review says it, too."""
    async with AsyncExitStack() as stack:
        demotions = Demotions(engine=database.engine, embedder=await embedder(settings, await local_embedder(), stack))
        await note_relevance(demotions, trace, given, by=REVIEWER)


def _passages(detail: dict[str, Any]) -> list[dict[str, Any]]:
    return [*(detail.get("passages") or ()), *(detail.get("pages") or ())]
