"""Fits an evaluator's calibration and the two thresholds to reviewed questions of one installation."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crag_graph.benchmarks.quality import (
    Costs,
    Quality,
    comparison,
    confusion_table,
    quality,
    reliability_table,
)
from crag_graph.domain import Kind, Passage, Verdict
from crag_graph.evaluators.calibration import Calibration, logit
from crag_graph.services import Evaluator
from crag_graph.verdict import Thresholds, judge

FEWEST = 30
FEWEST_OF_A_KIND = 5
"""Cases that the library answers, and cases that it does not, needed to tell one from the other."""
_PRIOR = 4.0
"""How strongly the calibration is held at what it was: as much as about this many cases."""
_ROUNDS = 5
_UPPER = tuple(np.round(np.arange(0.5, 0.91, 0.05), 2))
_LOWER = tuple(np.round(np.arange(0.1, 0.51, 0.05), 2))

Floats = NDArray[np.float64]


class CaseError(ValueError):
    """The cases cannot be used."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"{self.__doc__} {detail}")


@dataclass(frozen=True, kw_only=True)
class ReviewedCase:
    """A question as it was judged, the passages that were found for it, and the verdict that a person gave."""

    question: str
    verdict: Verdict
    passages: tuple[Passage, ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """Before is with the thresholds given and the evaluator as it is; after with what was fitted.

    `after` is measured on cases left out of the fit (five folds), so that it can be believed.
    """

    cases: int
    by_verdict: dict[Verdict, int]
    before: Quality
    after: Quality
    thresholds_before: Thresholds
    thresholds: Thresholds
    calibration: Calibration

    def text(self) -> str:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.by_verdict.items())
        old, new = self.thresholds_before, self.thresholds
        return "\n".join(
            [
                f"{self.cases} cases: {counts}.",
                "",
                comparison(self.before, self.after),
                f"| thresholds | {old.upper:.2f} / {old.lower:.2f} | {new.upper:.2f} / {new.lower:.2f} |",
                "",
                confusion_table(self.before, self.after),
                "",
                reliability_table(self.before, self.after),
            ]
        )

    @property
    def better(self) -> bool:
        return self.after.cost < self.before.cost


def read_cases(file: Path) -> list[ReviewedCase]:
    """From JSON lines: `question`, `verdict`, and `passages` with `text` and perhaps `title` and `location`.

    Raises CaseError that names the line, OSError where the file cannot be read.
    """
    return list(_cases(file.read_text(encoding="utf-8").splitlines()))


async def calibrate(
    cases: Sequence[ReviewedCase],
    evaluator: Evaluator,
    *,
    thresholds: Thresholds | None = None,
    costs: Costs | None = None,
) -> Report:
    """`evaluator` judges without any calibration. Raises CaseError where there are too few cases to learn from."""
    _check(cases)
    thresholds, costs = thresholds or Thresholds(), costs or Costs()
    judged = [await evaluator.evaluate(case.question, case.passages) for case in cases]
    scores = [[[score.value for score in part.scores] for part in one.parts] for one in judged]
    verdicts = [case.verdict for case in cases]
    calibration, fitted = _fit(scores, verdicts, costs)
    return Report(
        cases=len(cases),
        by_verdict={verdict: verdicts.count(verdict) for verdict in Verdict},
        before=_quality([(scores, verdicts, Calibration(), thresholds)], costs),
        after=_quality(list(_folds(scores, verdicts, costs)), costs),
        thresholds_before=thresholds,
        thresholds=fitted,
        calibration=calibration,
    )


Scores = Sequence[Sequence[Sequence[float]]]
"""By case, part and passage."""
Fold = tuple[Scores, Sequence[Verdict], Calibration, Thresholds]


def _fit(scores: Scores, verdicts: Sequence[Verdict], costs: Costs) -> tuple[Calibration, Thresholds]:
    calibration = _calibration(scores, verdicts)
    choices = [
        Thresholds(upper=float(upper), lower=float(lower)) for upper, lower in product(_UPPER, _LOWER) if lower <= upper
    ]
    usual = Thresholds()

    best = [calibration(np.array([max(part, default=0.0) for part in parts])) for parts in scores]
    least, most = np.array([one.min() for one in best]), np.array([one.max() for one in best])
    right = {verdict: np.array([one is verdict for one in verdicts]) for verdict in Verdict}

    def price(choice: Thresholds) -> tuple[float, float]:
        """As `judge` decides; of equal choices the one nearest to the usual."""
        correct, incorrect = least >= choice.upper, most < choice.lower
        cost = (
            costs.false_correct * (correct & ~right[Verdict.CORRECT]).mean()
            + costs.false_incorrect * (incorrect & ~right[Verdict.INCORRECT]).mean()
            + costs.needless_web * (~correct & right[Verdict.CORRECT]).mean()
        )
        return float(cost), abs(choice.upper - usual.upper) + abs(choice.lower - usual.lower)

    return calibration, min(choices, key=price)


def _calibration(scores: Scores, verdicts: Sequence[Verdict]) -> Calibration:
    """Newton's method on Platt's two numbers, held near 1 and 0 by a prior."""
    best = [np.array([max(part, default=0.0) for part in parts]) for parts in scores]
    odds, labels = _labelled(best, verdicts)
    numbers, centre = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    inputs = np.stack([odds, np.ones_like(odds)], axis=1)
    for _ in range(25):
        expected = 1 / (1 + np.exp(-inputs @ numbers))
        slope = inputs.T @ (expected - labels) + _PRIOR * (numbers - centre)
        curve = inputs.T @ (inputs * (expected * (1 - expected))[:, None]) + _PRIOR * np.eye(2)
        numbers = numbers - np.linalg.solve(curve, slope)
    return Calibration(slope=max(float(numbers[0]), 0.1), shift=float(numbers[1]))


def _labelled(best: Sequence[Floats], verdicts: Sequence[Verdict]) -> tuple[Floats, Floats]:
    """Log-odds and labels of the parts; of an ambiguous question the best part is answered and the worst is not."""
    odds: list[float] = []
    labels: list[float] = []
    for values, verdict in zip(best, verdicts, strict=True):
        if verdict is not Verdict.AMBIGUOUS:
            chosen = [(value, float(verdict is Verdict.CORRECT)) for value in values]
        else:
            chosen = [(values.max(), 1.0), (values.min(), 0.0)] if len(values) > 1 else []
        odds += [float(logit(np.array(value))) for value, _ in chosen]
        labels += [label for _, label in chosen]
    return np.array(odds), np.array(labels)


def _folds(scores: Scores, verdicts: Sequence[Verdict], costs: Costs) -> Iterator[Fold]:
    """Each case judged by a fit that did not see it; every fifth case of a verdict is in the same fold."""
    order = sorted(range(len(scores)), key=lambda n: verdicts[n])
    for fold in range(_ROUNDS):
        out = set(order[fold::_ROUNDS])
        rest = [n for n in range(len(scores)) if n not in out]
        fitted = _fit([scores[n] for n in rest], [verdicts[n] for n in rest], costs)
        chosen = sorted(out)
        yield [scores[n] for n in chosen], [verdicts[n] for n in chosen], *fitted


def _quality(folds: Sequence[Fold], costs: Costs) -> Quality:
    pairs: list[tuple[Verdict, Verdict]] = []
    probabilities, labels = [], []
    for scores, verdicts, calibration, thresholds in folds:
        calibrated = [[calibration(np.array(part)) for part in parts] for parts in scores]
        said = (judge([part.tolist() for part in parts], thresholds) for parts in calibrated)
        pairs += zip(verdicts, said, strict=True)
        best = [np.array([part.max(initial=0.0) for part in parts]) for parts in calibrated]
        odds, wanted = _labelled(best, verdicts)
        probabilities.append(1 / (1 + np.exp(-odds)))
        labels.append(wanted)
    return quality(pairs, np.concatenate(probabilities), np.concatenate(labels), costs)


def _check(cases: Sequence[ReviewedCase]) -> None:
    if len(cases) < FEWEST:
        raise CaseError(f"There are {len(cases)} of them: too few to learn from, at least {FEWEST} are needed.")
    for verdict in (Verdict.CORRECT, Verdict.INCORRECT):
        count = sum(case.verdict is verdict for case in cases)
        if count < FEWEST_OF_A_KIND:
            raise CaseError(f"Only {count} of them are {verdict}; at least {FEWEST_OF_A_KIND} are needed.")


def _cases(lines: Sequence[str]) -> Iterator[ReviewedCase]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            yield ReviewedCase(
                question=str(row["question"]),
                verdict=Verdict(row["verdict"]),
                passages=tuple(_passage(place, one) for place, one in enumerate(row["passages"])),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CaseError(f"Line {number} is not a case: {error}.") from error


def _passage(place: int, row: Any) -> Passage:
    bare = Passage(id=str(place), kind=Kind.INTERNAL, document=str(place), source="", title="", text=str(row["text"]))
    return replace(bare, title=str(row.get("title", "")), location=str(row.get("location", "")))
