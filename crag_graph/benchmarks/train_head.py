"""Fits the head: from the signals of a part's best strip to the probability that the part is answered."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crag_graph.benchmarks.cases import Question
from crag_graph.benchmarks.readings import Library
from crag_graph.domain import Verdict
from crag_graph.evaluators.judging import question_text, strip_text
from crag_graph.evaluators.parts import parts
from crag_graph.evaluators.reader import Reader, batch
from crag_graph.evaluators.signals import Asked, Ground, asked, signals
from crag_graph.evaluators.weights import Head

Floats = NDArray[np.float64]
ROUNDS = 5
STRENGTH = 1.0
"""Inverse of the ridge penalty."""
STEPS, CLOSE = 50, 1e-8
"""Newton's method stops when no weight moves further than this."""
AGAINST = frozenset(("names_missing", "far_uncovered"))
"""Signals that may only speak against an answer."""
FIRST = {"strip_tokens": 1.0, "strip_cosine": 0.5, "strip_coverage": 0.3, "rarest_least": 0.3}
"""What ranks the strips before anything is learnt."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A part of a question against the strips that were retrieved for it. `said`: what the reader says, or nothing."""

    part: Asked
    grounds: tuple[Ground, ...]
    passages: tuple[int, ...]
    owner: NDArray[np.intp]
    rows: Floats


@dataclass(frozen=True, kw_only=True)
class Record:
    """A question with its parts against what was retrieved."""

    question: Question
    found: tuple[Found, ...]


def records(library: Library, rarity: NDArray[np.float32], *, limit: int = 8) -> list[Record]:
    return [record(library, question, rarity, limit=limit) for question in library.collection.questions]


def record(
    library: Library, question: Question, rarity: NDArray[np.float32], *, limit: int = 8, without: Sequence[int] = ()
) -> Record:
    """`without`: numbers of passages that are taken away, for a question that is no longer answered."""
    passages = tuple(library.search(question.text, limit=limit, without=without))
    grounds = tuple(library.grounds[number] for number in passages)
    found = []
    texts = parts(question.text)
    for text in texts:
        part = asked(text, library.read[text], rarity, alone=len(texts) == 1)
        rows = [signals(part, ground) for ground in grounds]
        owner = np.repeat(np.arange(len(grounds)), [len(signal) for signal in rows])
        found.append(Found(part=part, grounds=grounds, passages=passages, owner=owner, rows=np.concatenate(rows)))
    return Record(question=question, found=tuple(found))


def with_reader(
    given: Sequence[Record], reader: Reader, rarity: NDArray[np.float32], quick: Head, *, read: int
) -> list[Record]:
    """The same with what the reader says as last signal; strips that it does not read get its least."""
    return [
        replace(record, found=tuple(_read(found, reader, rarity, quick, read) for found in record.found))
        for record in given
    ]


def _read(found: Found, reader: Reader, rarity: NDArray[np.float32], quick: Head, read: int) -> Found:
    best = np.argsort(-quick.logits(found.rows), kind="stable")[:read]
    number = np.concatenate([np.arange(len(ground.strips)) for ground in found.grounds])
    question = question_text(found.part)
    pairs = [(question, strip_text(found.grounds[found.owner[n]], int(number[n]))) for n in best]
    said = np.full(len(found.rows), np.nan)
    said[best] = reader.logits(batch(pairs, rarity))
    said[np.isnan(said)] = said[best].min()
    return replace(found, rows=np.concatenate([found.rows, said[:, None]], axis=1))


def fit(given: Sequence[Record], names: Sequence[str], *, weights: Sequence[float] | None = None) -> Head:
    """Logistic regression on each part's best strip; which strip is best, and which part of an ambiguous question
    is the answered one, is settled anew in each round by the head so far.
    """
    head = _first(names)
    for _ in range(ROUNDS):
        rows, labels, importance = [], [], []
        for record, weight in zip(given, weights or [1.0] * len(given), strict=True):
            best = [best_row(found, head) for found in record.found]
            for row, label in zip(best, _labels(record, head.logits(np.stack(best))), strict=True):
                if label is not None:
                    rows.append(row)
                    labels.append(label)
                    importance.append(weight)
        head = _fitted(np.stack(rows), np.array(labels), np.array(importance), names)
    return head


def best_row(found: Found, head: Head) -> Floats:
    row: Floats = found.rows[np.argmax(head.logits(found.rows))]
    return row


def _labels(record: Record, logits: Floats) -> list[bool | None]:
    if record.question.verdict is not Verdict.AMBIGUOUS:
        return [record.question.verdict is Verdict.CORRECT] * len(logits)
    labels: list[bool | None] = [None] * len(logits)
    if len(logits) > 1:
        labels[int(np.argmin(logits))] = False
        labels[int(np.argmax(logits))] = True
    return labels


def _fitted(rows: Floats, labels: NDArray[np.bool_], importance: Floats, names: Sequence[str]) -> Head:
    """Signals that would count against their meaning are left out: in these sets, a question that names something
    is more often unanswered, but a name that a passage lacks must never speak for it.
    """
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    inputs, used = (rows - mean) / spread, np.ones(len(names), bool)
    while True:
        weights = np.zeros(len(names))
        weights[used], bias = regression(inputs[:, used], labels, importance)
        wrong = np.array([name in AGAINST and weight > 0 for name, weight in zip(names, weights, strict=True)])
        if not wrong.any():
            return Head(mean=mean, spread=spread, weights=weights, bias=bias)
        used &= ~wrong


def regression(
    inputs: Floats, labels: NDArray[np.bool_], importance: Floats, *, strength: float = STRENGTH
) -> tuple[Floats, float]:
    """Weights and bias of a ridge-penalised logistic regression, by Newton's method; the bias is not penalised.

    `inputs`: shape (n, inputs), about standardised. `strength`: inverse of the penalty.
    """
    design = np.column_stack([inputs, np.ones(len(inputs))])
    penalty = np.append(np.full(inputs.shape[1], 1 / strength), 1e-9)
    found = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-np.clip(design @ found, -30, 30)))
        slope = design.T @ (importance * (chances - labels)) + penalty * found
        curve = (design * (importance * chances * (1 - chances))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        found = found - step
        if np.abs(step).max() < CLOSE:
            break
    return found[:-1], float(found[-1])


def _first(names: Sequence[str]) -> Head:
    count = len(names)
    weights = np.array([FIRST.get(name, 0.0) for name in names])
    return Head(mean=np.zeros(count), spread=np.ones(count), weights=weights, bias=0.0)
