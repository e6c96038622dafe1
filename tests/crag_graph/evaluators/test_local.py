"""The local evaluator on its trained weights."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from crag_graph.embedding import TokenVectors
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.evaluators.prepared import Prepared, Preparer
from crag_graph.evaluators.remembered import JudgedPassage, Remembered
from crag_graph.evaluators.signals import ground
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.strips import decompose
from tests.crag_graph.evaluators.conftest import passage

LEAVE = passage(
    "Full-time employees have 26 days of paid annual leave a year. Unused days lapse on 31 March.",
    title="Leave",
    location="Annual leave",
)
PARENTS = passage(
    "Each parent gets 60 days of parental leave at full pay. Tell your manager ten weeks before it begins.",
    title="Leave",
    location="Parental leave",
)
PUMP = passage("The pump is cleaned with a soft brush once a month. Never use solvents.", title="Pump manual")


async def test_the_passage_that_answers_scores_best(evaluator: LocalEvaluator) -> None:
    evaluation = await evaluator.evaluate("How many days of parental leave do I get?", [PUMP, LEAVE, PARENTS])
    values = [score.value for score in evaluation.scores]
    assert values[2] == max(values)
    assert values[0] < 0.3


async def test_every_score_is_a_probability_with_a_reason(evaluator: LocalEvaluator) -> None:
    evaluation = await evaluator.evaluate("How often is the pump cleaned and with what brush?", [PUMP, LEAVE])
    for part in evaluation.parts:
        assert len(part.scores) == 2
        assert all(0 <= score.value <= 1 and score.reason for score in part.scores)


async def test_the_reason_names_what_was_found(evaluator: LocalEvaluator) -> None:
    evaluation = await evaluator.evaluate("How many days of parental leave do I get?", [PARENTS])
    assert "parental" in evaluation.scores[0].reason
    assert "60 days" in evaluation.scores[0].reason


async def test_the_reason_names_what_is_missing(evaluator: LocalEvaluator) -> None:
    evaluation = await evaluator.evaluate("Which solvent does the supplier of the turbine recommend?", [LEAVE])
    assert "nothing on" in evaluation.scores[0].reason


@pytest.mark.parametrize("question", ["Who won the football world cup in 1998?", "Who is the head of Brazil?"])
async def test_what_names_nothing_and_is_far_in_meaning_is_of_no_use(evaluator: LocalEvaluator, question: str) -> None:
    passages = [PUMP, LEAVE, PARENTS]
    evaluation = await evaluator.evaluate(question, passages)
    assert max(score.value for score in evaluation.scores) < 0.3
    filtering = await evaluator.filter(question, [strip for one in passages for strip in decompose(one)])
    assert not any(filtering.keep)


@pytest.mark.parametrize("text", ["Grade 14 gets parental leave. See page 10.", "Parental leave, 7."])
async def test_a_number_is_named_with_what_it_counts_or_not_at_all(evaluator: LocalEvaluator, text: str) -> None:
    evaluation = await evaluator.evaluate("How many days of parental leave do I get?", [passage(text)])
    assert "“" not in evaluation.scores[0].reason


async def test_a_question_of_two_parts_is_judged_part_by_part(evaluator: LocalEvaluator) -> None:
    evaluation = await evaluator.evaluate(
        "How many days of annual leave do I have, and how often is the pump cleaned?", [LEAVE, PUMP]
    )
    assert len(evaluation.parts) == 2
    leave, pump = evaluation.parts
    assert leave.scores[0].value > leave.scores[1].value
    assert pump.scores[1].value > pump.scores[0].value
    best = [max(part.scores[n].value for part in evaluation.parts) for n in range(2)]
    assert [score.value for score in evaluation.scores] == best


async def test_prepared_passages_get_the_scores_that_they_would_get_unprepared(
    evaluator: LocalEvaluator, preparer: Preparer
) -> None:
    bare = [LEAVE, PARENTS, PUMP]
    blobs = await preparer.featurize(
        [one.title for one in bare], [one.location for one in bare], [one.text for one in bare]
    )
    stored = [replace(one, features=blob) for one, blob in zip(bare, blobs, strict=True)]
    question = "How many days of annual leave do I have?"
    now, then = await evaluator.evaluate(question, bare), await evaluator.evaluate(question, stored)
    assert now == then


async def test_a_damaged_blob_is_read_again(evaluator: LocalEvaluator) -> None:
    damaged = replace(PARENTS, features=b"cp1\0 not what it says")
    whole = await evaluator.evaluate("How long is parental leave?", [PARENTS])
    assert await evaluator.evaluate("How long is parental leave?", [damaged]) == whole


async def test_nothing_retrieved_gives_no_scores(evaluator: LocalEvaluator) -> None:
    evaluation = await evaluator.evaluate("How long is parental leave?", [])
    assert evaluation.scores == ()
    assert evaluation.parts[0].scores == ()


@pytest.mark.parametrize(
    "text",
    ["", " ", "\x00", "\ud800", "🦦" * 500, "| a | b |\n|---|---|\n| 1 | 2 |", "word " * 20_000, "日本語。" * 300],
)
async def test_any_text_gets_a_score(evaluator: LocalEvaluator, text: str) -> None:
    evaluation = await evaluator.evaluate("How long is parental leave?", [passage(text), PARENTS])
    assert len(evaluation.scores) == 2


@pytest.mark.parametrize("question", ["", "?", "\x00", "why", "the of and", "\ud800?", "a" * 5_000, "と は 何 ですか"])
async def test_any_question_gets_scores(evaluator: LocalEvaluator, question: str) -> None:
    evaluation = await evaluator.evaluate(question, [PARENTS, PUMP])
    assert len(evaluation.scores) == 2
    assert evaluation.parts


async def test_the_order_of_the_passages_means_nothing(evaluator: LocalEvaluator) -> None:
    question = "When do unused days of leave lapse?"
    there = await evaluator.evaluate(question, [LEAVE, PARENTS, PUMP])
    back = await evaluator.evaluate(question, [PUMP, PARENTS, LEAVE])
    for one, other in zip(there.scores, reversed(back.scores), strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-4)


async def test_the_filter_keeps_the_strip_with_the_answer_and_drops_the_rest(evaluator: LocalEvaluator) -> None:
    strips = [strip for one in (LEAVE, PARENTS, PUMP) for strip in decompose(one)]
    filtering = await evaluator.filter("How many days of parental leave do I get?", strips)
    kept = [strip.passage for strip, keep in zip(strips, filtering.keep, strict=True) if keep]
    assert PARENTS in kept
    assert PUMP not in kept


async def test_no_strips_are_filtered_to_none(evaluator: LocalEvaluator) -> None:
    assert (await evaluator.filter("How long?", [])).keep == ()


async def test_questions_at_once_do_not_mix(evaluator: LocalEvaluator) -> None:
    questions = ["How many days of parental leave do I get?", "How is the pump cleaned?"] * 3
    passages = [LEAVE, PARENTS, PUMP]
    at_once = await asyncio.gather(*(evaluator.evaluate(question, passages) for question in questions))
    assert at_once[0] == at_once[2] == at_once[4]
    assert at_once[1] == at_once[3] != at_once[0]


class CountingEmbedder(LocalEmbedder):
    """The real one; it counts the texts that it was asked for."""

    asked = 0

    async def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.asked += len(texts)
        return await super().embed_tokens(texts)


async def test_what_was_evaluated_is_not_read_again_by_the_filter() -> None:
    embedder = CountingEmbedder()
    evaluator, question = LocalEvaluator(embedder), "How many days of parental leave do I get?"
    evaluation = await evaluator.evaluate(question, [LEAVE, PARENTS])
    embedder.asked = 0
    filtering = await evaluator.filter(question, [strip for one in (PARENTS, PUMP) for strip in decompose(one)])
    assert embedder.asked == 2  # the question, and the page that nobody evaluated
    assert filtering.scores[0] == evaluation.scores[1]


async def test_slips_of_the_pen_are_undone_for_passages_and_strips_alike(evaluator: LocalEvaluator) -> None:
    typed, right = "how mnay dyas of parnetal laeve do i get", "how many days of parental leave do i get"
    passages, strips = [PUMP, PARENTS], decompose(PARENTS)
    assert (await evaluator.evaluate(typed, passages)).scores == (await evaluator.evaluate(right, passages)).scores
    assert await evaluator.filter(typed, strips) == await evaluator.filter(right, strips)


async def test_strips_that_are_not_the_ones_evaluated_are_judged_afresh(evaluator: LocalEvaluator) -> None:
    question = "How many days of parental leave do I get?"
    await evaluator.evaluate(question, [PARENTS])
    (strip,) = decompose(PARENTS)
    shorter = replace(strip, end=strip.start + len("Each parent gets 60 days of parental leave at full pay."))
    assert (await evaluator.filter(question, [shorter])).keep == (True,)


def test_only_the_last_questions_are_remembered() -> None:
    remembered, judged = Remembered(most=2), judged_passage()
    for question in ("one", "two", "three"):
        remembered.keep(question, [judged], (question,))
    assert (remembered.texts("one"), remembered.texts("three")) == ((), ("three",))
    assert remembered.find("one", judged.ground.strips) is None
    assert remembered.find("three", judged.ground.strips) is judged
    assert remembered.find("three", ()) is None


def judged_passage() -> JudgedPassage:
    nothing = Prepared(
        pooled=np.zeros(384, np.float32),
        tokens=np.zeros((0, 384), np.float32),
        ids=np.zeros(0, np.int32),
        starts=np.zeros(0, np.int32),
    )
    return JudgedPassage(
        ground=ground(LEAVE, decompose(LEAVE), nothing), logits=np.zeros((1, 1)), astray=np.zeros((1, 1), bool)
    )
