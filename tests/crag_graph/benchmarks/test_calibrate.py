"""Calibration to an installation: from reviewed cases to two numbers and two thresholds."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from crag_graph.benchmarks.calibrate import CaseError, ReviewedCase, calibrate, read_cases
from crag_graph.benchmarks.quality import Costs
from crag_graph.domain import Kind, Part, Passage, Score, Strip, Verdict
from crag_graph.services import Evaluation, Filtering


class Overconfident:
    """Reads its score from the passage; it says 0.75 to 0.95 where 0.2 to 0.9 would be right."""

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        scores = tuple(Score(value=float(passage.text), reason="told") for passage in passages)
        return Evaluation(scores=scores, parts=(Part(text=question, scores=scores),))

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        return Filtering(scores=(), keep=())


def case(score: float, verdict: Verdict) -> ReviewedCase:
    passage = Passage(id="1", kind=Kind.INTERNAL, document="1", source="", title="", text=str(score))
    return ReviewedCase(question="Is it?", verdict=verdict, passages=(passage,))


def overconfident_cases(count: int) -> list[ReviewedCase]:
    chance = np.random.default_rng(7)
    cases = []
    for _ in range(count):
        truth = chance.uniform(0.05, 0.95)
        verdict = Verdict.CORRECT if chance.random() < truth else Verdict.INCORRECT
        cases.append(case(0.75 + 0.2 * truth, verdict))
    return cases


async def test_an_overconfident_evaluator_becomes_cheaper_and_better_calibrated() -> None:
    report = await calibrate(overconfident_cases(200), Overconfident())
    assert report.better
    assert report.after.calibration_error < report.before.calibration_error
    assert report.after.false_correct < report.before.false_correct
    assert "before" in report.text()


async def test_the_cost_of_a_false_incorrect_moves_the_lower_threshold_down() -> None:
    cases = overconfident_cases(200)
    dear = await calibrate(cases, Overconfident(), costs=Costs(false_incorrect=20.0))
    cheap = await calibrate(cases, Overconfident(), costs=Costs(false_incorrect=0.01, needless_web=2.0))
    assert dear.after.false_incorrect <= cheap.after.false_incorrect
    assert dear.thresholds.lower <= cheap.thresholds.lower


async def test_the_same_cases_give_the_same_fit() -> None:
    cases = overconfident_cases(60)
    assert await calibrate(cases, Overconfident()) == await calibrate(cases, Overconfident())


async def test_thirty_cases_are_enough_and_fewer_are_said_to_be_too_few() -> None:
    assert (await calibrate(overconfident_cases(30), Overconfident())).cases == 30
    with pytest.raises(CaseError, match="29 of them: too few"):
        await calibrate(overconfident_cases(29), Overconfident())


async def test_cases_of_one_kind_only_teach_nothing() -> None:
    with pytest.raises(CaseError, match="Only 0 of them are incorrect"):
        await calibrate([case(0.9, Verdict.CORRECT)] * 40, Overconfident())


def test_cases_are_read_from_lines(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    row = {"question": "Why?", "verdict": "correct", "passages": [{"text": "0.5", "title": "T", "location": "L"}]}
    file.write_text(json.dumps(row) + "\n\n" + json.dumps(row | {"passages": []}) + "\n", encoding="utf-8")
    first, second = read_cases(file)
    assert first.passages[0].title == "T"
    assert second.passages == ()


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"question": "Why?"}', '{"question": "Why?", "verdict": "perhaps", "passages": []}']
)
def test_a_line_that_is_no_case_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(CaseError, match="Line 1"):
        read_cases(file)
