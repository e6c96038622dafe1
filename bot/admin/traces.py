"""The pages *Traces* and *One trace*, and what an admin decides there."""

from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from bot.admin import again
from bot.admin.demoting import said_against
from bot.admin.filters import CHOICES, chips, chosen, link, to_filter
from bot.admin.story import Story, tell
from bot.admin.visit import Visit, back
from bot.prices import cost
from bot.traces.facets import facets
from bot.traces.history import reruns_of, turns_before
from bot.traces.reading import Row, Trace, list_traces, show_trace
from bot.traces.relevance import note_relevance
from bot.traces.reviews import Rating, Review, add_review
from crag_graph.services import ModelBusyError

PAGE = 50
TEXTS = frozenset({"question", "answer"})
RELEVANCE = "passage:"
"""Prefix of the fields that judge a passage."""


async def show_list(visit: Visit) -> Response:
    values = chosen(visit.request.query_params)
    which = to_filter(values, team=visit.team, slow=visit.desk.slow)
    found = await list_traces(visit.engine, which, after=visit.query("after") or None, limit=PAGE, brief=True)
    choices = await facets(visit.engine, team=visit.team)
    people = {run["asker"] for run in found.runs} | set(choices.askers)
    return visit.page(
        "traces.html",
        runs=found.runs,
        next=link(values, after=found.next) if found.next else None,
        values=values,
        chips=chips(values, now=visit.desk.now()),
        choices=CHOICES,
        facets=choices,
        names=await visit.names(people, {run["channel"] for run in found.runs} | set(choices.channels)),
        dollars={run["id"]: _dollars(visit, run) for run in found.runs},
    )


async def show_one(visit: Visit) -> Response:
    trace = await _found(visit, visit.path("trace"))
    run = trace.run
    story = tell(trace, visit.desk.prices)
    texts = [found.passage["text"] for found in story.passages]
    return visit.page(
        "trace.html",
        story=story,
        against=await said_against(visit, texts, run["spaces"]),
        trace=trace,
        run=run,
        before=await turns_before(visit.engine, run),
        reruns=await reruns_of(visit.engine, run),
        judged=_judged(trace),
        names=await _names(visit, trace),
        texts=visit.desk.texts,
        said=visit.query("said"),
    )


async def show_text(visit: Visit) -> Response:
    """A text that is too long for a page."""
    name = visit.path("name")
    if name not in TEXTS:
        raise HTTPException(404)
    trace = await _found(visit, visit.path("trace"))
    return PlainTextResponse(trace.run[name])


async def review(visit: Visit) -> Response:
    trace = visit.path("trace")
    judgement = _review(visit)
    if not await add_review(visit.engine, judgement, team=visit.team, trace=trace, reviewer=visit.person):
        raise HTTPException(404)
    with suppress(ModelBusyError):  # the judgement is stored in any case
        await note_relevance(visit.desk.demotions, await _found(visit, trace), judgement, by=visit.person)
    told = {"rating": judgement.rating, "verdict": judgement.verdict, "passages": len(judgement.passages)}
    await visit.note("reviewed", trace, **told)
    return back(f"/admin/traces/{trace}?said=stored#reviews")


async def run_again(visit: Visit) -> Response:
    trace = await _found(visit, visit.path("trace"))
    try:
        other = await again.run_again(visit.desk, trace.run)
    except again.RerunError as error:
        raise HTTPException(409, str(error)) from error
    await visit.note("ran again", trace.run["id"], new=other)
    return back(f"/admin/traces/{trace.run['id']}/beside/{other}")


async def show_beside(visit: Visit) -> Response:
    """Two runs of one question, side by side."""
    then, now = [await _found(visit, visit.path(name)) for name in ("trace", "other")]
    stories: list[Story] = [tell(trace, visit.desk.prices) for trace in (then, now)]
    return visit.page("beside.html", stories=stories, run=then.run)


async def _found(visit: Visit, trace: str) -> Trace:
    found = await show_trace(visit.engine, trace, team=visit.team)
    if found is None:
        raise HTTPException(404)
    return found


def _review(visit: Visit) -> Review:
    """From the form. Raises ReviewError."""
    passages = {
        name.removeprefix(RELEVANCE): visit.field(name) == "yes"
        for name in visit.form
        if name.startswith(RELEVANCE) and visit.field(name)
    }
    return Review(
        rating=cast("Rating | None", visit.field("rating") or None),
        verdict=visit.field("verdict") or None,
        answer=visit.field("answer"),
        passages=passages,
        note=visit.field("note"),
    )


def _judged(trace: Trace) -> Mapping[str, bool]:
    """The newest judgement on each passage."""
    judged: dict[str, bool] = {}
    for one in reversed(trace.reviews):
        judged |= one["passages"]
    return judged


async def _names(visit: Visit, trace: Trace) -> Mapping[str, str]:
    people = {
        trace.run["asker"],
        *(row["person"] for row in trace.feedback),
        *(row["reviewer"] for row in trace.reviews),
    }
    return await visit.names(people - {""}, {trace.run["channel"]} - {""})


def _dollars(visit: Visit, run: Row) -> float | None:
    return cost(visit.desk.prices, run["model"], run["prompt_tokens"], run["completion_tokens"])
