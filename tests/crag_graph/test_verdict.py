"""The verdict, at and around its boundaries."""

import pytest

from crag_graph.domain import Verdict
from crag_graph.verdict import Thresholds, judge

JUST_BELOW = 1e-9


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ([], Verdict.INCORRECT),
        ([0.7], Verdict.CORRECT),
        ([0.7 - JUST_BELOW], Verdict.AMBIGUOUS),
        ([0.3], Verdict.AMBIGUOUS),
        ([0.3 - JUST_BELOW], Verdict.INCORRECT),
        ([0.3 - JUST_BELOW, 0.7], Verdict.CORRECT),
        ([0.1, 0.1, 0.1], Verdict.INCORRECT),
        ([0.5, 0.5, 0.5], Verdict.AMBIGUOUS),
        ([1.0, 1.0, 1.0], Verdict.CORRECT),
    ],
)
def test_one_part_follows_the_rule_of_the_paper(scores: list[float], verdict: Verdict) -> None:
    assert judge([scores], Thresholds()) is verdict


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([[0.9, 0.1], [0.1, 0.8]], Verdict.CORRECT),
        ([[0.9, 0.1], [0.2, 0.1]], Verdict.AMBIGUOUS),
        ([[0.2, 0.1], [0.2, 0.1]], Verdict.INCORRECT),
        ([[], []], Verdict.INCORRECT),
    ],
)
def test_every_part_of_a_question_needs_its_own_passage(parts: list[list[float]], verdict: Verdict) -> None:
    assert judge(parts, Thresholds()) is verdict


def test_thresholds_may_be_equal_and_zero() -> None:
    assert judge([[]], Thresholds(upper=0.0, lower=0.0)) is Verdict.INCORRECT
    assert judge([[0.0]], Thresholds(upper=0.0, lower=0.0)) is Verdict.CORRECT


@pytest.mark.parametrize(("upper", "lower"), [(0.3, 0.7), (1.1, 0.3), (0.7, -0.1)])
def test_thresholds_out_of_order_or_range_are_refused(upper: float, lower: float) -> None:
    with pytest.raises(ValueError, match="0 <= lower <= upper <= 1"):
        Thresholds(upper=upper, lower=lower)
