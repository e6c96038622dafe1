"""A trace as it is told: what was found, judged and kept, what was asked of models, how long each step took."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.admin.picture import Picture, draw
from bot.admin.strips import Piece, pieces
from bot.prices import Price, cost
from bot.traces.reading import Row, Trace


@dataclass(frozen=True, kw_only=True)
class Found:
    """A passage or page with what was decided about it. `good`: it went further."""

    passage: Row
    score: float | None
    reason: str
    good: bool
    strips: int
    kept: int
    pieces: Sequence[Piece]


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request to a model. `dollars`: None where the price is not known."""

    call: Row
    dollars: float | None


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A step on the time line; `start` and `length` as shares of the whole, in [0, 100]."""

    node: str
    milliseconds: float
    start: float
    length: float


@dataclass(frozen=True, kw_only=True)
class Story:
    run: Row
    passages: Sequence[Found]
    pages: Sequence[Found]
    calls: Sequence[Call]
    faults: Sequence[Row]
    bars: Sequence[Bar]
    picture: Picture
    parts: Sequence[Row]
    dollars: float | None
    """Of all calls; None where a price is not known."""

    @property
    def kept(self) -> int:
        return sum(found.kept for found in (*self.passages, *self.pages))

    @property
    def strips(self) -> int:
        return sum(found.strips for found in (*self.passages, *self.pages))

    @property
    def best(self) -> float | None:
        """The highest score of a passage of the library."""
        return max((found.score for found in self.passages if found.score is not None), default=None)


def tell(trace: Trace, prices: Mapping[str, Price]) -> Story:
    details = _joined(step["detail"] for step in trace.steps)
    judged = details.get("strips") or ()
    calls = [_call(call, prices) for step in trace.steps for call in step["calls"]]
    faults = [fault for step in trace.steps for fault in step["faults"]]
    return Story(
        run=trace.run,
        passages=_found(details, judged),
        pages=[_one(page, None, "", good=True, judged=judged) for page in details.get("pages") or ()],
        calls=calls,
        faults=faults,
        bars=_bars([(step["node"], step["milliseconds"]) for step in trace.steps]),
        picture=draw(
            [(step["node"], step["milliseconds"]) for step in trace.steps],
            faulty=frozenset(fault["where"] for fault in faults),
        ),
        parts=details.get("parts") or (),
        dollars=_sum(call.dollars for call in calls),
    )


def _joined(details: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What the steps learnt; a later step has the last word."""
    joined: dict[str, Any] = {}
    for detail in details:
        joined.update(detail)
    return joined


def _found(details: Mapping[str, Any], judged: Sequence[Row]) -> list[Found]:
    """The passages of the library, best first."""
    passages, scores = details.get("passages") or (), details.get("scores") or ()
    good = {passage["id"] for passage in details.get("good") or ()}
    padded = [*scores, *[None] * (len(passages) - len(scores))]
    found = [
        _one(
            passage,
            score["value"] if score else None,
            score["reason"] if score else "",
            good=passage["id"] in good,
            judged=judged,
        )
        for passage, score in zip(passages, padded, strict=False)
    ]
    return sorted(found, key=lambda one: -(one.score or 0.0))


def _one(passage: Row, score: float | None, reason: str, *, good: bool, judged: Sequence[Row]) -> Found:
    own = [one for one in judged if one["strip"]["passage"] == passage["id"]]
    return Found(
        passage=passage,
        score=score,
        reason=reason,
        good=good,
        strips=len(own),
        kept=sum(bool(one["kept"]) for one in own),
        pieces=pieces(passage["text"], own),
    )


def _call(call: Row, prices: Mapping[str, Price]) -> Call:
    dollars = cost(prices, call["model"], call["prompt_tokens"], call["completion_tokens"])
    return Call(call=call, dollars=dollars)


def _bars(timings: Sequence[tuple[str, float]]) -> list[Bar]:
    whole = sum(milliseconds for _, milliseconds in timings) or 1.0
    bars, gone = [], 0.0
    for node, milliseconds in timings:
        share = 100 * milliseconds / whole
        bars.append(Bar(node=node, milliseconds=milliseconds, start=round(gone, 2), length=round(max(share, 0.3), 2)))
        gone += share
    return bars


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = list(amounts)
    return None if any(amount is None for amount in known) else sum(amount for amount in known if amount is not None)
