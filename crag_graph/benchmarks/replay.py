"""Runs reviewed cases through the graph again, over the passages that were found then, and compares with the run before."""

import asyncio
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from crag_graph.benchmarks.calibrate import CaseError, ReviewedCase
from crag_graph.context import Context, Policy
from crag_graph.domain import Passage, Verdict
from crag_graph.graph import Graph, build
from crag_graph.services import Retrieval, Services
from crag_graph.state import State

LONGEST_QUESTION = 80


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one case; `wanted` is the verdict of the person who reviewed it."""

    question: str
    wanted: Verdict
    said: Verdict
    abstained: bool
    calls: int
    tokens: int
    milliseconds: float

    @property
    def right(self) -> bool:
        return self.said is self.wanted


class AsThen:
    """A library that finds what was found then, whatever is asked."""

    def __init__(self, passages: tuple[Passage, ...]) -> None:
        self._passages = passages

    async def search(self, query: str, *, spaces: Sequence[str], limit: int) -> Retrieval:  # noqa: ARG002 - as then
        return Retrieval(passages=self._passages[:limit])


async def replay(cases: Sequence[ReviewedCase], services: Services, policy: Policy) -> list[Outcome]:
    """One after another, with the evaluator, the writer, the web and the thresholds of the installation."""
    if not cases:
        raise CaseError("There are none.")
    graph = build()
    return [await _run(graph, case, services, policy) for case in cases]


async def _run(graph: Graph, case: ReviewedCase, services: Services, policy: Policy) -> Outcome:
    then = replace(services, library=AsThen(case.passages))
    began = time.perf_counter()
    context = Context(
        services=then,
        policy=policy,
        today=date.today(),  # noqa: DTZ011 - the day of whoever runs it
        ends_at=asyncio.get_running_loop().time() + policy.deadline,
    )
    asked: State = {"question": case.question, "spaces": ("as then",), "web_allowed": services.web.available}
    state: Any = await graph.ainvoke(asked, context=context)
    calls = state.get("calls", ())
    return Outcome(
        question=case.question,
        wanted=case.verdict,
        said=state["answer"].verdict,
        abstained=state["answer"].abstained,
        calls=len(calls),
        tokens=sum(call.prompt_tokens + call.completion_tokens for call in calls),
        milliseconds=1_000 * (time.perf_counter() - began),
    )


def compared(now: Sequence[Outcome], before: Sequence[Outcome]) -> str:
    """Both runs side by side, in Markdown, and the cases whose verdict has changed."""
    lines = ["| | before | now |", "|---|---|---|"]
    lines += [f"| {told} | {cell(before) if before else ''} | {cell(now)} |" for told, cell in FIGURES.items()]
    return "\n".join([*lines, *_changes(now, before)])


def _wrongly(run: Sequence[Outcome], verdict: Verdict) -> float:
    return statistics.mean(one.said is verdict is not one.wanted for one in run)


FIGURES: Mapping[str, Callable[[Sequence[Outcome]], str]] = {
    "cases": lambda run: str(len(run)),
    "right verdicts": lambda run: f"{statistics.mean(one.right for one in run):.3f}",
    "said correct, was not": lambda run: f"{_wrongly(run, Verdict.CORRECT):.3f}",
    "said incorrect, was not": lambda run: f"{_wrongly(run, Verdict.INCORRECT):.3f}",
    "abstentions": lambda run: f"{statistics.mean(one.abstained for one in run):.3f}",
    "model calls a question": lambda run: f"{statistics.mean(one.calls for one in run):.2f}",
    "tokens a question": lambda run: f"{statistics.mean(one.tokens for one in run):.0f}",
    "ms a question (median)": lambda run: f"{statistics.median(one.milliseconds for one in run):.0f}",
}


def _changes(now: Sequence[Outcome], before: Sequence[Outcome]) -> list[str]:
    earlier = {one.question: one for one in before}
    changed = [(earlier[one.question], one) for one in now if one.question in earlier]
    lines = [
        f"| {one.question[:LONGEST_QUESTION].replace('|', ' ')} | {one.wanted} | {then.said} | {one.said} |"
        for then, one in changed
        if then.said is not one.said
    ]
    return ["", "| changed | as reviewed | before | now |", "|---|---|---|---|", *lines] if lines else []


def load_run(file: Path) -> list[Outcome]:
    """The run before; none where there is no file, or where it holds something else."""
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
        return [Outcome(**row | {"wanted": Verdict(row["wanted"]), "said": Verdict(row["said"])}) for row in rows]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def save_run(run: Sequence[Outcome], file: Path) -> None:
    """Whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.new")
    fresh.write_text(json.dumps([asdict(one) for one in run], ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    fresh.replace(file)
