"""Reviewed traces as cases to measure and calibrate with; people, channels and teams become placeholders."""

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.reading import Filter, Row, Trace, list_traces, show_trace
from crag_graph.models.languages import STOP_WORDS

PAGE = 200
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_TOKEN = re.compile(r"<(?P<sign>[@#]|!subteam\^)(?P<id>[A-Z0-9]+)(?:\|[^>]*)?>")
_ID = re.compile(r"\b(?P<sign>[UWBCGDT])(?=[A-Z0-9]*\d)[A-Z0-9]{8,}\b")
_CHANNEL = re.compile(r"(?<![\w/.&])#(?P<name>[^\W\d_][\w-]*)")
_PERSON = re.compile(r"(?<![\w/.])@(?P<name>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w'’-]+){0,2})")
"""How a question shows whom it mentions; a display name may have several words."""
_KINDS = {"@": "person", "#": "channel", "!subteam^": "group", "U": "person", "W": "person", "B": "bot"}
_KINDS |= {"C": "channel", "G": "channel", "D": "channel", "T": "team"}
_SMALL = frozenset(word for words in STOP_WORDS.values() for word in words.split())


class Placeholders:
    """The same name is the same placeholder, in the order of their first occurrence: export the oldest first."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}

    def hide(self, text: str) -> str:
        """The text without ids, mentions and addresses of people."""
        text = _TOKEN.sub(lambda found: self._of(_KINDS[found["sign"]], found["id"]), text)
        text = _EMAIL.sub(lambda found: self._of("address", found[0].casefold()), text)
        text = _ID.sub(lambda found: self._of(_KINDS[found["sign"]], found[0]), text)
        text = _CHANNEL.sub(lambda found: self._of("channel", found["name"].casefold()), text)
        return _PERSON.sub(self._mention, text)

    def _mention(self, found: re.Match[str]) -> str:
        """A name goes on with capitalised words that are no small ones: “@Anna Bell how”, “@Anna How”."""
        first, *others = found["name"].split(" ")
        own = list(takewhile(lambda word: word[0].isupper() and word.casefold() not in _SMALL, others))
        return " ".join([self._of("person", " ".join([first, *own]).casefold()), *others[len(own) :]])

    def hide_all(self, value: Any) -> Any:
        """Every text within."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, Mapping):
            return {key: self.hide_all(one) for key, one in value.items()}
        return [self.hide_all(one) for one in value] if isinstance(value, list | tuple) else value

    def _of(self, kind: str, name: str) -> str:
        same_kind = sum(known == kind for known, _ in self._known)
        return self._known.setdefault((kind, name), f"{kind}-{same_kind + 1}")


async def reviewed(engine: AsyncEngine, which: Filter) -> AsyncIterator[Trace]:
    """The reviewed traces of a selection, oldest first; erased ones come without their texts."""
    names = [run["id"] async for run in _runs(engine, which if which.review else replace(which, review="judged"))]
    for name in reversed(names):
        if trace := await show_trace(engine, name):
            yield trace


def case_of(trace: Trace) -> dict[str, Any] | None:
    """A trace as a case; None where it was erased, or where no review tells what the verdict should have been.

    `verdict` and `answer` are as they should have been, `said` is what was said; a passage has `relevant` where a
    review judged it.
    """
    run, review = trace.run, _judgement(trace.reviews)
    verdict = review.get("verdict") or (run["verdict"] if review.get("rating") == "good" else None)
    if run["erased_at"] or verdict is None:
        return None
    answer = review.get("answer") or (run["answer"] if review.get("rating") == "good" and not run["abstention"] else "")
    return {
        "id": run["id"],
        "question": run["standalone"] or run["question"],
        "verdict": verdict,
        "said": run["verdict"],
        "rating": review.get("rating"),
        "answer": answer,
        "note": review.get("note") or "",
        "passages": list(_passages(trace, review.get("passages") or {})),
    }


def _judgement(reviews: tuple[Row, ...]) -> dict[str, Any]:
    """What counts of several reviews: for each thing that was judged, the newest word on it."""
    merged: dict[str, Any] = {"passages": {}}
    for review in reversed(reviews):  # they come newest first
        merged["passages"] |= review["passages"]
        merged |= {name: review[name] for name in ("rating", "verdict", "answer", "note") if review[name]}
    return merged


def _passages(trace: Trace, judged: Mapping[str, bool]) -> Iterator[dict[str, Any]]:
    found = next((step["detail"]["passages"] for step in trace.steps if step["detail"].get("passages")), ())
    for passage in found:
        told = {"relevant": judged[passage["id"]]} if passage["id"] in judged else {}
        yield {name: passage.get(name) or "" for name in ("title", "location", "text")} | told


async def _runs(engine: AsyncEngine, which: Filter) -> AsyncIterator[Row]:
    after: str | None = None
    while True:
        page = await list_traces(engine, which, after=after, limit=PAGE, brief=True)
        for run in page.runs:
            yield run
        after = page.next
        if after is None:
            return
