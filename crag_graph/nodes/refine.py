"""Takes what was found apart into strips and keeps those that help."""

from collections.abc import Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from crag_graph.context import Context
from crag_graph.domain import JudgedStrip, Kind, Strip
from crag_graph.services import Filtering, ModelReplyError
from crag_graph.state import State
from crag_graph.strips import decompose, excerpt


async def refine(state: State, runtime: Runtime[Context]) -> State:
    context = runtime.context
    strips = [strip for passage in (*state["good"], *state.get("pages", ())) for strip in decompose(passage)]
    if not strips:
        return {"strips": ()}
    filtering = await context.services.evaluator.filter(state["standalone"], strips)
    if not len(filtering.scores) == len(filtering.keep) == len(strips):
        raise ModelReplyError(f"{len(filtering.keep)} judgements for {len(strips)} strips.", calls=filtering.calls)
    filtering = _without_weak_pages(strips, filtering, context.policy.thresholds.lower)
    kept = _that_fit(strips, filtering, context.policy.context_characters)
    by_part = filtering.by_part or ((),) * len(strips)
    return {
        "strips": tuple(
            JudgedStrip(strip=strip, score=score, kept=index in kept, by_part=values)
            for index, (strip, score, values) in enumerate(zip(strips, filtering.scores, by_part, strict=True))
        ),
        "calls": filtering.calls,
    }


def _without_weak_pages(strips: Sequence[Strip], filtering: Filtering, lower: float) -> Filtering:
    """Of a page of the web nothing is kept where its best strip is below the bar that passages are dropped by."""
    best: dict[str, float] = {}
    for strip, score in zip(strips, filtering.scores, strict=True):
        best[strip.passage.id] = max(best.get(strip.passage.id, 0.0), score.value)
    keep = tuple(
        keep and (strip.passage.kind is not Kind.WEB or best[strip.passage.id] >= lower)
        for strip, keep in zip(strips, filtering.keep, strict=True)
    )
    return replace(filtering, keep=keep)


def _that_fit(strips: Sequence[Strip], filtering: Filtering, room: int) -> set[int]:
    """Positions of the strips that help; where they are too many characters, of the best of them."""
    helpful = [index for index, keep in enumerate(filtering.keep) if keep]
    characters = sum(len(strips[index].text) for index in helpful)
    # Strips overlap: together they have fewer characters, but to know how many takes time.
    if characters <= room or len(excerpt([strips[index] for index in helpful])) <= room:
        return set(helpful)
    fitting: set[int] = set()
    for index in sorted(helpful, key=lambda index: -filtering.scores[index].value):
        room -= len(strips[index].text)
        if room >= 0:
            fitting.add(index)
    return fitting
