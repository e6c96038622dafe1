"""The page of the local evaluator's figures: what a run measured, and behind it the notes that are written by hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crag_graph.benchmarks import tables
from crag_graph.benchmarks.evaluator_outcomes import Cost, StripCase
from crag_graph.benchmarks.quality import calibration_error
from crag_graph.domain import Verdict
from crag_graph.evaluators.choosing import KEEP, KEEP_BESIDE, helpful
from crag_graph.verdict import Thresholds, judge

SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
"""Shares of the best strip's score from which another is kept, for the table."""
NEAR = ("near", "unanswerable_near")
SHIPPED = "0.7 / 0.3 (shipped)"
LIKELIEST = "composed, the likeliest"
HEAD = """# The local evaluator, measured

`make train-evaluator DATA=…` (`python -m crag_graph.benchmarks.train_evaluator --data DATA --write benchmarks/evaluator.md`)

Each organisation is judged by a reader and a head that were trained on the others, on eight passages that a
search in memory (words and meaning, fused by rank) finds for the standalone question. Harmful: said correct
although the library was not enough, or incorrect although it held something. Needless web: the library was
enough, but the verdict was not correct. A rule with two numbers asks of every part (or, composed, of the whole
question) at least the first for correct, and less than the second (composed: one minus it) for incorrect.
"""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """By organisation, each judged by what was trained on the others. `quick`: by signals alone, without the reader.
    `far`: public questions that the organisation's library cannot answer. `removed`: its own without their answers.
    """

    outcomes: Mapping[str, Sequence[tables.Outcome]]
    quick: Mapping[str, Sequence[tables.Outcome]]
    far: Mapping[str, Sequence[tables.Outcome]]
    removed: Mapping[str, Sequence[tables.Outcome]]
    strips: Sequence[StripCase]
    cost: Cost


def bars(upper: float, lower: float) -> tables.Rule:
    return lambda scores: judge(scores, Thresholds(upper=upper, lower=lower))


def composed(upper: float, lower: float) -> tables.Rule:
    """The same bars on the whole question, its parts taken as independent."""

    def said(scores: Sequence[Sequence[float]]) -> Verdict:
        correct, incorrect = _chances(scores)
        if correct >= upper:
            return Verdict.CORRECT
        return Verdict.INCORRECT if incorrect > 1 - lower else Verdict.AMBIGUOUS

    return said


def likeliest(scores: Sequence[Sequence[float]]) -> Verdict:
    correct, incorrect = _chances(scores)
    chances = {Verdict.CORRECT: correct, Verdict.INCORRECT: incorrect, Verdict.AMBIGUOUS: 1 - correct - incorrect}
    return max(chances, key=lambda verdict: chances[verdict])


def _chances(scores: Sequence[Sequence[float]]) -> tuple[float, float]:
    """P(correct) = Π p, P(incorrect) = Π (1 − p)."""
    best = np.array([max(part, default=0.0) for part in scores])
    return float(best.prod()), float((1 - best).prod())


RULES: dict[str, Callable[[Sequence[Sequence[float]]], Verdict]] = {
    SHIPPED: bars(0.7, 0.3),
    "0.65 / 0.3": bars(0.65, 0.3),
    "0.6 / 0.3": bars(0.6, 0.3),
    "0.5 / 0.5": bars(0.5, 0.5),
    "composed, 0.7 / 0.3": composed(0.7, 0.3),
    "composed, 0.6 / 0.3": composed(0.6, 0.3),
    "composed, 0.5 / 0.3": composed(0.5, 0.3),
    LIKELIEST: likeliest,
}


def page(measured: Measured, notes: str) -> str:
    """`notes`: Markdown, appended as it is."""
    sections = [HEAD, _verdicts(measured), _kinds(measured), _calibration(measured), _strips(measured), _cost(measured)]
    return "\n".join([*sections, notes])


def _everything(measured: Measured) -> list[tables.Outcome]:
    return [one for found in measured.outcomes.values() for one in found]


def _verdicts(measured: Measured) -> str:
    everything = _everything(measured)
    quick = [one for found in measured.quick.values() for one in found]
    lines = [
        "## Verdicts",
        "",
        tables.VERDICT_HEAD,
        *(tables.verdict_row(f"all three, {name}", everything, rule) for name, rule in RULES.items()),
        *(
            tables.verdict_row(f"{name}, {rule}", found, RULES[rule])
            for name, found in measured.outcomes.items()
            for rule in (SHIPPED, LIKELIEST)
        ),
        tables.verdict_row(f"all three without the reader, {SHIPPED}", quick, RULES[SHIPPED]),
        "",
    ]
    return "\n".join(lines)


def _kinds(measured: Measured) -> str:
    everything = _everything(measured)
    near = [one for one in everything if one.group in NEAR]
    removed = [one for found in measured.removed.values() for one in found]
    far = np.array([one.best.max() for found in measured.far.values() for one in found])
    lines = [
        "## By kind of question",
        "",
        "Share of right verdicts. `near`: a topic of the library without the asked fact. `multi_incorrect`: both parts",
        "missing.",
        "",
        tables.group_rows(everything, {name: RULES[name] for name in (SHIPPED, LIKELIEST)}),
        "",
        "Said correct although nothing answers, at the shipped thresholds:",
        (
            f"{_said_correct(near):.2f} of {len(near)} near questions, and {_said_correct(removed):.2f} of {len(removed)} "
            "answered questions whose"
        ),
        "answer was taken out of the library.",
        f"{len(far)} public questions (XQuAD, CLAPNQ) asked of the three libraries, which cannot answer them:",
        f"{(far < Thresholds().lower).mean():.2f} score below {Thresholds().lower}, mean score {far.mean():.2f}.",
        "",
    ]
    return "\n".join(lines)


def _said_correct(found: Sequence[tables.Outcome]) -> float:
    return float(np.mean([RULES[SHIPPED](one.scores) is Verdict.CORRECT for one in found])) if found else float("nan")


def _calibration(measured: Measured) -> str:
    pairs = tables.labelled_parts(_everything(measured))
    by_set = ", ".join(
        f"{name} {_error(tables.labelled_parts(found)):.3f} (n {len(tables.labelled_parts(found))})"
        for name, found in measured.outcomes.items()
    )
    lines = [
        "## Calibration",
        "",
        (
            f"Parts of questions (n {len(pairs)}, answered {np.mean([label for _, label in pairs]):.2f}): calibration error "
            f"(ECE, 10 bins) {_error(pairs):.3f}; by set {by_set}; AUC {tables.auc(pairs):.3f}. The reliability curve:"
        ),
        "",
        tables.reliability_rows(pairs),
        "",
    ]
    return "\n".join(lines)


def _error(pairs: Sequence[tuple[float, bool]]) -> float:
    return calibration_error(np.array([score for score, _ in pairs]), np.array([float(label) for _, label in pairs]))


def _strips(measured: Measured) -> str:
    lines = [
        "## Strips",
        "",
        f"{len(measured.strips)} questions whose answer was among the eight passages; a strip is kept from a score of",
        f"{KEEP} on if it reaches a share of the best strip's score.",
        "",
        strip_rows(measured.strips),
        "",
    ]
    return "\n".join(lines)


def strip_rows(cases: Sequence[StripCase]) -> str:
    """What is kept of the strips with the answer, and of all text, where more or fewer strips are kept."""
    lines = ["| kept from this share of the best | strips with the answer kept | questions that keep all | text kept |"]
    lines.append("|---|---|---|---|")
    for share in SHARES:
        kept = [(helpful(case.values, beside=share), case) for case in cases]
        answers = np.concatenate([mask[case.holds] for mask, case in kept]).mean()
        whole = np.mean([mask[case.holds].all() for mask, case in kept])
        text = sum(case.length[mask].sum() for mask, case in kept) / sum(case.length.sum() for case in cases)
        shipped = " (shipped)" if share == KEEP_BESIDE else ""
        lines.append(f"| {share:.2f}{shipped} | {answers:.3f} | {whole:.3f} | {text:.2f} |")
    return "\n".join(lines)


def _cost(measured: Measured) -> str:
    cost = measured.cost
    rows = (
        ("judge the passages", cost.judge),
        ("filter the strips afterwards", cost.filter_after),
        ("filter strips that nobody judged", cost.filter_alone),
    )
    lines = [
        "## Cost",
        "",
        (
            f"CPU time of one thread a question, {cost.questions} questions with eight prepared passages "
            f"({cost.strips:.0f} strips) each, on the machine"
        ),
        "and with the load of that run.",
        "",
        "| | median ms | 95 % below |",
        "|---|---|---|",
        *(f"| {name} | {median:.0f} | {most:.0f} |" for name, (median, most) in rows),
        "",
    ]
    return "\n".join(lines)
