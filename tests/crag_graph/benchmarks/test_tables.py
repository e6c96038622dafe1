"""The figures of the evaluator's page, on outcomes that can be counted by hand."""

import math

from crag_graph.benchmarks.tables import (
    VERDICT_HEAD,
    Outcome,
    auc,
    group_rows,
    labelled_parts,
    macro_f1,
    reliability_rows,
    single_parts,
    verdict_row,
)
from crag_graph.domain import Verdict
from crag_graph.verdict import Thresholds, judge

CORRECT, AMBIGUOUS, INCORRECT = Verdict.CORRECT, Verdict.AMBIGUOUS, Verdict.INCORRECT
OUTCOMES = [
    Outcome(verdict=CORRECT, group="single", scores=((0.2, 0.9),)),
    Outcome(verdict=CORRECT, group="single", scores=((0.5, 0.1),)),
    Outcome(verdict=INCORRECT, group="near", scores=((0.8,),)),
    Outcome(verdict=INCORRECT, group="near", scores=((0.1,),)),
    Outcome(verdict=AMBIGUOUS, group="multi", scores=((0.9,), (0.2,))),
]


def judged(scores: object) -> Verdict:
    return judge(scores, Thresholds())  # type: ignore[arg-type]


def test_a_row_counts_right_harmful_and_needless_verdicts() -> None:
    cells = [cell.strip() for cell in verdict_row("all", OUTCOMES, judged).strip("|").split("|")]
    heads = [head.strip() for head in VERDICT_HEAD.splitlines()[0].strip("|").split("|")]
    told = dict(zip(heads, cells, strict=True))
    assert told["n"] == "5"
    assert told["base"] == "0.40"
    assert told["accuracy"] == "0.600"
    assert told["recall incorrect / ambiguous / correct"] == "0.50 / 1.00 / 0.50"
    assert told["harmful"] == "0.200"
    assert told["needless web"] == "0.50"


def test_groups_have_rows_of_their_own() -> None:
    assert group_rows(OUTCOMES, {"bars": judged}).splitlines()[2:] == [
        "| multi | 1 | 1.00 |",
        "| near | 2 | 0.50 |",
        "| single | 2 | 0.50 |",
    ]


def test_of_an_ambiguous_question_the_best_part_is_answered_and_the_worst_is_not() -> None:
    assert labelled_parts(OUTCOMES) == [(0.9, True), (0.5, True), (0.8, False), (0.1, False), (0.9, True), (0.2, False)]
    assert single_parts(OUTCOMES) == [(0.9, True), (0.5, True), (0.8, False), (0.1, False)]


def test_the_curve_has_a_line_for_each_tenth_with_scores_in_it() -> None:
    lines = reliability_rows([(0.05, False), (0.72, True), (0.78, False), (1.0, True)]).splitlines()[2:]
    assert lines == [
        "| 0.0–0.1 | 1 | 0.05 | 0.00 |",
        "| 0.7–0.8 | 2 | 0.75 | 0.50 |",
        "| 0.9–1.0 | 1 | 1.00 | 1.00 |",
    ]


def test_auc_counts_ties_half_and_needs_both_kinds() -> None:
    assert auc([(0.9, True), (0.1, False)]) == 1.0
    assert auc([(0.5, True), (0.5, False)]) == 0.5
    assert auc([(0.1, True), (0.9, False)]) == 0.0
    assert math.isnan(auc([(0.9, True)]))


def test_macro_f1_is_the_mean_over_the_verdicts() -> None:
    assert macro_f1([(one, one) for one in Verdict]) == 1.0
    assert macro_f1([(CORRECT, CORRECT), (CORRECT, INCORRECT)]) == (2 / 3) / 3
