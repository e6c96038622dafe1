"""How good verdicts and scores are over judged cases, and that as tables in Markdown."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crag_graph.domain import Verdict

BINS = 10

Floats = NDArray[np.float64]
Pair = tuple[Verdict, Verdict]
"""The verdict that a person gave, and the one that was said."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What a wrong verdict costs. A needless web search is one that the library could have spared."""

    false_correct: float = 1.0
    false_incorrect: float = 1.0
    needless_web: float = 0.3


@dataclass(frozen=True, kw_only=True)
class Bin:
    """The parts of questions whose score lies in a tenth of [0, 1]: how many, their mean score, the share answered."""

    count: int
    score: float
    answered: float


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Over all cases: right verdicts, said correct or incorrect when it was not, and calibration error (ECE).

    `reliability` has a bin for each tenth, None where no score lies.
    """

    accuracy: float
    false_correct: float
    false_incorrect: float
    needless_web: float
    calibration_error: float
    cost: float
    confusion: Mapping[Pair, int]
    reliability: tuple[Bin | None, ...]


def quality(pairs: Sequence[Pair], probabilities: Floats, labels: Floats, costs: Costs) -> Quality:
    """`probabilities` and `labels` (1 answered, 0 not) are of the parts that a label is known for, in one order."""
    shares = {
        "accuracy": _share(wanted is said for wanted, said in pairs),
        "false_correct": _share(said is Verdict.CORRECT is not wanted for wanted, said in pairs),
        "false_incorrect": _share(said is Verdict.INCORRECT is not wanted for wanted, said in pairs),
        "needless_web": _share(wanted is Verdict.CORRECT is not said for wanted, said in pairs),
    }
    return Quality(
        **shares,
        calibration_error=calibration_error(probabilities, labels),
        cost=sum(getattr(costs, name) * shares[name] for name in ("false_correct", "false_incorrect", "needless_web")),
        confusion=Counter(pairs),
        reliability=tuple(reliability(probabilities, labels)),
    )


def reliability(probabilities: Floats, labels: Floats) -> Iterable[Bin | None]:
    """A bin for each tenth of [0, 1]."""
    places = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    for number in range(BINS):
        inside = places == number
        yield (
            Bin(
                count=int(inside.sum()),
                score=float(probabilities[inside].mean()),
                answered=float(labels[inside].mean()),
            )
            if inside.any()
            else None
        )


def calibration_error(probabilities: Floats, labels: Floats) -> float:
    """Expected calibration error: mean distance of probability and frequency over the bins, by their size."""
    bins = [one for one in reliability(probabilities, labels) if one]
    return sum(one.count * abs(one.score - one.answered) for one in bins) / max(len(probabilities), 1)


def comparison(before: Quality, after: Quality) -> str:
    rows = {
        "right verdicts": "accuracy",
        "said correct, was not": "false_correct",
        "said incorrect, was not": "false_incorrect",
        "needless web searches": "needless_web",
        "calibration error": "calibration_error",
        "cost a question": "cost",
    }
    lines = (f"| {told} | {getattr(before, name):.3f} | {getattr(after, name):.3f} |" for told, name in rows.items())
    return "\n".join(["| | before | after |", "|---|---|---|", *lines])


def confusion_table(before: Quality, after: Quality) -> str:
    """Rows: what a person said it is. Columns: what was said before and is said after."""
    said = [f"{when}: {verdict}" for when in ("before", "after") for verdict in Verdict]
    lines = [f"| is \\ said | {' | '.join(said)} |", "|---" * (len(said) + 1) + "|"]
    for wanted in Verdict:
        counts = [str(one.confusion.get((wanted, verdict), 0)) for one in (before, after) for verdict in Verdict]
        lines.append(f"| {wanted} | {' | '.join(counts)} |")
    return "\n".join(lines)


def reliability_table(before: Quality, after: Quality) -> str:
    lines = ["| score | before: n | answered | after: n | answered |", "|---|---|---|---|---|"]
    for number, pair in enumerate(zip(before.reliability, after.reliability, strict=True)):
        cells = [f"{one.count} | {one.answered:.2f}" if one else "0 | " for one in pair]
        lines.append(f"| {number / BINS:.1f}–{(number + 1) / BINS:.1f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _share(truths: Iterable[bool]) -> float:
    return float(np.mean([*truths]))
