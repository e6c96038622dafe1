"""The head of the local evaluator, fitted on a small library of its own."""

from pathlib import Path

import numpy as np
import pytest

from crag_graph.benchmarks import tables, train_head
from crag_graph.benchmarks.cases import own
from crag_graph.benchmarks.readings import Library, read
from crag_graph.domain import Verdict
from crag_graph.evaluators.signals import NAMES
from crag_graph.evaluators.weights import load
from crag_graph.models.embed_local import LocalEmbedder
from tests.crag_graph.benchmarks.zoo import LIBRARY


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("own") / "zoo.txt"
    file.write_text(LIBRARY, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
async def library(file: Path) -> Library:
    return await read(own(file), LocalEmbedder())


def test_questions_stand_behind_the_block_that_answers_them(library: Library) -> None:
    answered = [question for question in library.collection.questions if question.verdict is Verdict.CORRECT]
    assert len(library.collection.questions) == 8
    assert len(answered) == 5
    for question in answered:
        (evidence,) = question.evidence
        block = library.passages[evidence.passage].text[evidence.start : evidence.end]
        assert ("keeper" in block) is ("summer" in question.text or "days" in question.text)


def test_the_head_learns_which_parts_are_answered(library: Library) -> None:
    records = train_head.records(library, load().rarity)
    head = train_head.fit(records, NAMES)
    scores = [
        (float(head.logits(train_head.best_row(record.found[0], head)[None])[0]), record.question.verdict)
        for record in records
    ]
    assert tables.auc([(score, verdict is Verdict.CORRECT) for score, verdict in scores]) > 0.8


def test_training_twice_gives_the_same_head(library: Library) -> None:
    records = train_head.records(library, load().rarity)
    one, other = train_head.fit(records, NAMES), train_head.fit(records, NAMES)
    assert np.array_equal(one.weights, other.weights)


def test_an_answer_that_is_taken_away_is_not_retrieved(library: Library) -> None:
    question = next(one for one in library.collection.questions if one.evidence)
    gone = train_head.record(library, question, load().rarity, without=(question.evidence[0].passage,))
    assert question.evidence[0].passage not in gone.found[0].passages


def test_the_regression_stands_where_the_penalised_loss_is_flat() -> None:
    chance = np.random.default_rng(1)
    inputs = chance.normal(size=(300, 4))
    labels = inputs[:, 0] - inputs[:, 1] + chance.normal(size=300) > 0
    importance = chance.uniform(0.2, 2, 300)
    weights, bias = train_head.regression(inputs, labels, importance, strength=0.5)
    errors = importance * (1 / (1 + np.exp(-(inputs @ weights + bias))) - labels)
    assert np.allclose(errors @ inputs + weights / 0.5, 0, atol=1e-6)
    assert abs(errors.sum()) < 1e-6
    assert weights[0] > 0.5 > -0.5 > weights[1]


def test_labels_that_a_signal_tells_apart_wholly_still_give_finite_weights() -> None:
    inputs = np.linspace(-2, 2, 40)[:, None]
    weights, bias = train_head.regression(inputs, inputs[:, 0] > 0, np.ones(40))
    assert np.isfinite(weights).all()
    assert abs(bias) < 1e-6


@pytest.mark.parametrize(
    ("pairs", "area"),
    [
        ([(0.1, False), (0.9, True)], 1.0),
        ([(0.9, False), (0.1, True)], 0.0),
        ([(0.5, False), (0.5, True)], 0.5),
        ([(0.1, False), (0.5, True), (0.5, False), (0.9, True)], 0.875),
    ],
)
def test_the_area_counts_ties_half(pairs: list[tuple[float, bool]], area: float) -> None:
    assert tables.auc(pairs) == pytest.approx(area)


def test_there_is_no_area_without_both_kinds() -> None:
    assert np.isnan(tables.auc([(0.3, True)]))
    assert np.isnan(tables.auc([]))
