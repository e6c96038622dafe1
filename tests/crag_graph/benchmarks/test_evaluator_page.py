"""The page of the local evaluator's figures, made from a small library and the weights that ship."""

from pathlib import Path

import numpy as np
import pytest

from crag_graph.benchmarks import evaluator_outcomes, evaluator_page, train_head
from crag_graph.benchmarks.cases import own
from crag_graph.benchmarks.evaluator_outcomes import REMOVED, StripCase
from crag_graph.benchmarks.evaluator_page import RULES, SHIPPED, Measured, composed, likeliest
from crag_graph.benchmarks.readings import Library, read
from crag_graph.domain import Verdict
from crag_graph.evaluators.judging import READ
from crag_graph.evaluators.reader import Reader
from crag_graph.evaluators.weights import load
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.verdict import Thresholds, judge
from tests.crag_graph.benchmarks.zoo import LIBRARY


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("own") / "zoo.txt"
    file.write_text(LIBRARY, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
async def library(file: Path) -> Library:
    return await read(own(file), LocalEmbedder())


@pytest.fixture(scope="module")
async def measured(library: Library) -> Measured:
    weights = load()
    plain = train_head.records(library, weights.rarity)
    over = train_head.with_reader(plain, Reader(weights.reader), weights.rarity, weights.quick, read=READ)
    bare = evaluator_outcomes.without_answers(library, weights.rarity)
    removed = train_head.with_reader(bare, Reader(weights.reader), weights.rarity, weights.quick, read=READ)
    found = evaluator_outcomes.outcomes(over, weights.full)
    return Measured(
        outcomes={"zoo": found},
        quick={"zoo": evaluator_outcomes.outcomes(plain, weights.quick)},
        far={"zoo": found},
        removed={"zoo": evaluator_outcomes.outcomes(removed, weights.full)},
        strips=list(evaluator_outcomes.strip_cases(over, weights.full)),
        cost=await evaluator_outcomes.cost(library, weights, LocalEmbedder(), most=2),
    )


def test_the_page_has_every_table_and_ends_with_the_notes(measured: Measured) -> None:
    said = evaluator_page.page(measured, "## What did not work\n\nMuch.\n")
    headings = [line for line in said.splitlines() if line.startswith("#")]
    assert headings == [
        "# The local evaluator, measured",
        "## Verdicts",
        "## By kind of question",
        "## Calibration",
        "## Strips",
        "## Cost",
        "## What did not work",
    ]
    assert said.endswith("Much.\n")
    assert f"zoo, {SHIPPED} | 8 |" in said


def test_questions_without_their_answer_are_measured_as_incorrect(measured: Measured) -> None:
    removed = measured.removed["zoo"]
    assert len(removed) == 5
    assert {(one.group, one.verdict) for one in removed} == {(REMOVED, Verdict.INCORRECT)}


def test_a_filter_behind_a_judgement_costs_less_than_one_alone(measured: Measured) -> None:
    assert measured.cost.questions == 2
    assert measured.cost.filter_after[0] < measured.cost.filter_alone[0]


@pytest.mark.parametrize("score", [0.0, 0.29, 0.3, 0.5, 0.69, 0.7, 1.0])
def test_composed_is_the_plain_rule_for_one_part(score: float) -> None:
    assert composed(0.7, 0.3)([[score, 0.1]]) is judge([[score, 0.1]], Thresholds())


def test_two_parts_that_are_half_sure_are_likeliest_ambiguous() -> None:
    assert likeliest([[0.5], [0.5]]) is Verdict.AMBIGUOUS
    assert likeliest([[0.9], [0.9]]) is Verdict.CORRECT
    assert likeliest([[0.2], [0.2]]) is Verdict.INCORRECT
    assert RULES[SHIPPED]([[0.9], [0.1]]) is Verdict.AMBIGUOUS


def test_the_share_of_text_and_answers_that_a_bar_keeps() -> None:
    case = StripCase(
        values=np.array([[0.9, 0.2, 0.001]]), holds=np.array([False, True, False]), length=np.array([10, 30, 60])
    )
    rows = evaluator_page.strip_rows([case]).splitlines()
    assert "| 0.00 | 1.000 | 1.000 | 0.40 |" in rows
    assert "| 0.50 | 0.000 | 0.000 | 0.10 |" in rows
