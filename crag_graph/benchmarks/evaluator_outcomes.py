"""What a head says about questions and strips whose answers are known."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crag_graph.benchmarks import tables, train_head
from crag_graph.benchmarks.readings import Library
from crag_graph.domain import Passage, Verdict
from crag_graph.embedding import TokenEmbedder
from crag_graph.evaluators.judging import probability, ruled
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.evaluators.parts import parts
from crag_graph.evaluators.prepared import pack
from crag_graph.evaluators.weights import Head, Weights
from crag_graph.strips import decompose

REMOVED = "answer removed"
"""Group of questions whose answer is taken out of the library."""


@dataclass(frozen=True, kw_only=True)
class StripCase:
    """A question whose answer was retrieved: its strips with their scores (parts, strips; 0 where one is astray),
    which hold the answer, and how long they are in characters.
    """

    values: NDArray[np.float64]
    holds: NDArray[np.bool_]
    length: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """CPU milliseconds a question: to judge its passages, to filter their strips after that, and without that."""

    questions: int
    strips: float
    judge: tuple[float, float]
    """Median and ninety-fifth percentile, and so below."""
    filter_after: tuple[float, float]
    filter_alone: tuple[float, float]


def outcomes(records: Sequence[train_head.Record], head: Head) -> list[tables.Outcome]:
    return [
        tables.Outcome(
            verdict=record.question.verdict,
            group=record.question.group,
            scores=tuple(_passage_scores(found, head) for found in record.found),
        )
        for record in records
    ]


def without_answers(library: Library, rarity: NDArray[np.float32]) -> list[train_head.Record]:
    """The questions that ask one thing and are answered, over a library that no longer holds the answer."""
    return [
        train_head.record(
            library,
            replace(question, verdict=Verdict.INCORRECT, group=REMOVED, evidence=()),
            rarity,
            without=tuple({evidence.passage for evidence in question.evidence}),
        )
        for question in library.collection.questions
        if question.verdict is Verdict.CORRECT and question.evidence and len(parts(question.text)) == 1
    ]


def strip_cases(records: Sequence[train_head.Record], head: Head) -> Iterator[StripCase]:
    for record in records:
        first = record.found[0]
        held = {
            (first.passages.index(evidence.passage), evidence.start)
            for evidence in record.question.evidence
            if evidence.passage in first.passages
        }
        strips = [(place, strip) for place, ground in enumerate(first.grounds) for strip in ground.strips]
        holds = np.array([(place, strip.start) in held for place, strip in strips])
        if holds.any():
            judged = [_judged(found, head) for found in record.found]
            yield StripCase(
                values=np.stack([np.where(strays, 0.0, values) for values, strays in judged]),
                holds=holds,
                length=np.array([strip.end - strip.start for _, strip in strips]),
            )


async def cost(library: Library, weights: Weights, embedder: TokenEmbedder, *, most: int = 60) -> Cost:
    """Of this machine as it is, one thread; the question is read anew, its passages are prepared."""
    spent: list[list[float]] = [[], [], []]
    strip_counts = []
    questions = library.collection.questions[:most]
    for question in questions:
        passages = [stored(library, number) for number in library.search(question.text)]
        strips = [strip for passage in passages for strip in decompose(passage)]
        strip_counts.append(len(strips))
        evaluator, other = (LocalEvaluator(embedder, weights=weights) for _ in range(2))
        for place, ask in enumerate(
            (
                evaluator.evaluate(question.text, passages),
                evaluator.filter(question.text, strips),
                other.filter(question.text, strips),
            )
        ):
            began = time.process_time()
            await ask
            spent[place].append(1_000 * (time.process_time() - began))
            await asyncio.sleep(0)
    judge, after, alone = (tuple(float(np.percentile(one, share)) for share in (50, 95)) for one in spent)
    return Cost(
        questions=len(questions),
        strips=float(np.mean(strip_counts)),
        judge=(judge[0], judge[1]),
        filter_after=(after[0], after[1]),
        filter_alone=(alone[0], alone[1]),
    )


def stored(library: Library, number: int) -> Passage:
    """As the product has it: with what was prepared of it at ingest."""
    return replace(library.passages[number], features=pack(library.prepared[number]))


def _judged(found: train_head.Found, head: Head) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    logits, strays = ruled(found.part, found.grounds, found.rows, found.owner, head.logits(found.rows))
    return probability(logits), strays


def _passage_scores(found: train_head.Found, head: Head) -> tuple[float, ...]:
    values = _judged(found, head)[0]
    return tuple(float(values[found.owner == place].max(initial=0.0)) for place in range(len(found.grounds)))
