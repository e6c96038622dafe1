"""Verdicts and scores against labels: the figures that the evaluator is measured by, as Markdown tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crag_graph.domain import Verdict

Floats = NDArray[np.float64]
Rule = Callable[[Sequence[Sequence[float]]], Verdict]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A question with its label, and for each part the scores of its passages."""

    verdict: Verdict
    group: str
    scores: tuple[tuple[float, ...], ...]

    @property
    def best(self) -> Floats:
        return np.array([max(part, default=0.0) for part in self.scores])


def verdict_row(name: str, outcomes: Sequence[Outcome], rule: Rule) -> str:
    """n, base rate, accuracy, recall of incorrect / ambiguous / correct, harmful, needless web, two AUCs."""
    said = [rule(outcome.scores) for outcome in outcomes]
    right = [outcome.verdict for outcome in outcomes]
    pairs = list(zip(said, right, strict=True))
    recalls = [
        _share([one is other for one, other in pairs if other is verdict])
        for verdict in (Verdict.INCORRECT, Verdict.AMBIGUOUS, Verdict.CORRECT)
    ]
    base = max(right.count(verdict) for verdict in Verdict) / len(right)
    cells = [
        f"{len(pairs)}",
        f"{base:.2f}",
        f"{_share([one is other for one, other in pairs]):.3f}",
        " / ".join(f"{recall:.2f}" for recall in recalls),
        f"{_share([_harmful(one, other) for one, other in pairs]):.3f}",
        f"{_share([one is not other for one, other in pairs if other is Verdict.CORRECT]):.2f}",
        f"{auc([(outcome.best.max(initial=0.0), outcome.verdict is not Verdict.INCORRECT) for outcome in outcomes]):.3f}",
        f"{auc(single_parts(outcomes)):.3f}",
        f"{macro_f1(pairs):.3f}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


VERDICT_HEAD = (
    "| set, rule | n | base | accuracy | recall incorrect / ambiguous / correct | harmful | needless web "
    "| AUC any / none | AUC one part | macro F1 |\n|---|---|---|---|---|---|---|---|---|---|"
)


def group_rows(outcomes: Sequence[Outcome], rules: Mapping[str, Rule]) -> str:
    """Share of right verdicts by kind of question."""
    lines = [f"| group | n | {' | '.join(rules)} |", "|---|---|" + "---|" * len(rules)]
    for group in sorted({outcome.group for outcome in outcomes}):
        chosen = [outcome for outcome in outcomes if outcome.group == group]
        shares = [_share([rule(one.scores) is one.verdict for one in chosen]) for rule in rules.values()]
        lines.append(f"| {group} | {len(chosen)} | {' | '.join(f'{share:.2f}' for share in shares)} |")
    return "\n".join(lines)


def reliability_rows(pairs: Sequence[tuple[float, bool]], *, bins: int = 10) -> str:
    """Among parts with a score in a bin, how many are answered."""
    scores, labels = np.array([score for score, _ in pairs]), np.array([label for _, label in pairs], float)
    places = np.minimum((scores * bins).astype(int), bins - 1)
    lines = ["| score | n | mean score | answered |", "|---|---|---|---|"]
    for number in range(bins):
        mask = places == number
        if mask.any():
            lines.append(
                f"| {number / bins:.1f}–{(number + 1) / bins:.1f} | {mask.sum()} | {scores[mask].mean():.2f} "
                f"| {labels[mask].mean():.2f} |"
            )
    return "\n".join(lines)


def single_parts(outcomes: Sequence[Outcome]) -> list[tuple[float, bool]]:
    """Score and label of the questions that ask one thing and are answered or not."""
    return [
        (float(outcome.best[0]), outcome.verdict is Verdict.CORRECT)
        for outcome in outcomes
        if len(outcome.scores) == 1 and outcome.verdict is not Verdict.AMBIGUOUS
    ]


def labelled_parts(outcomes: Sequence[Outcome]) -> list[tuple[float, bool]]:
    """Score and label of every part; of an ambiguous question the best part is answered and the worst is not."""
    pairs: list[tuple[float, bool]] = []
    for outcome in outcomes:
        best = outcome.best
        if outcome.verdict is not Verdict.AMBIGUOUS:
            pairs += [(float(score), outcome.verdict is Verdict.CORRECT) for score in best]
        elif len(best) > 1:
            pairs += [(float(best.max()), True), (float(best.min()), False)]
    return pairs


def auc(pairs: Sequence[tuple[float, bool]]) -> float:
    """The chance that an answered one scores above an unanswered one; a tie counts half. NaN without one of them."""
    labels = np.array([label for _, label in pairs], bool)
    _, places, counts = np.unique([score for score, _ in pairs], return_inverse=True, return_counts=True)
    answered, others = int(labels.sum()), int((~labels).sum())
    if not answered or not others:
        return float("nan")
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float((ranks[labels].sum() - answered * (answered + 1) / 2) / (answered * others))


def macro_f1(pairs: Sequence[tuple[Verdict, Verdict]]) -> float:
    """`pairs`: said and right."""
    scores = []
    for verdict in Verdict:
        hit = sum(one is other is verdict for one, other in pairs)
        total = sum((one is verdict) + (other is verdict) for one, other in pairs)
        scores.append(2 * hit / total if total else 0.0)
    return float(np.mean(scores))


def _harmful(said: Verdict, right: Verdict) -> bool:
    return said is not right and said in {Verdict.CORRECT, Verdict.INCORRECT}


def _share(truths: Sequence[bool]) -> float:
    return float(np.mean(truths)) if truths else float("nan")
