"""How far strips answer one part of a question: quick signals for all, the reader for the best."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crag_graph.evaluators.reader import QUESTION_TOKENS, STRIP_TOKENS, Reader, Text, batch
from crag_graph.evaluators.signals import Asked, Ground, astray, lacks_term, signals
from crag_graph.evaluators.weights import Weights

READ = 10
"""Strips that the reader reads for a part; the others stay with what the quick signals say."""
LACKS_TERM = 3.0
"""Log-odds taken from a strip that cannot say what a term means, because it does not have the term."""
ASTRAY_MOST = -0.95
"""Log-odds of a strip that is about something else, at most: of 50 such parts in the training sets, 14 were answered."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The strips of all passages for one part. `owner[s]`: number of the passage, `number[s]`: of the strip in it."""

    owner: NDArray[np.intp]
    number: NDArray[np.intp]
    rows: NDArray[np.float64]
    """Signals and, last, what the reader says (log-odds)."""
    logits: NDArray[np.float64]
    astray: NDArray[np.bool_]


class Judge:
    """Pure arithmetic over what is prepared; blocking, a few milliseconds for eight passages."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._reader = Reader(weights.reader)

    @property
    def rarity(self) -> NDArray[np.float32]:
        return self._weights.rarity

    def strips(self, part: Asked, grounds: Sequence[Ground], *, read: int = READ) -> Judged:
        """Log-odds that a strip answers the part, for every strip of every passage."""
        found = [signals(part, ground) for ground in grounds]
        rows = np.concatenate([np.zeros((0, len(self._weights.quick.weights))), *found])
        owner = np.repeat(np.arange(len(grounds)), [len(signal) for signal in found])
        number = np.concatenate([np.zeros(0, int), *(np.arange(len(signal)) for signal in found)]).astype(np.intp)
        quick = self._weights.quick.logits(rows)
        best = np.argsort(-quick, kind="stable")[:read]
        said = np.full(len(rows), np.nan)
        if len(best):
            question = question_text(part)
            pairs = [(question, strip_text(grounds[owner[n]], int(number[n]))) for n in best]
            said[best] = self._reader.logits(batch(pairs, self._weights.rarity))
            said[np.isnan(said)] = said[best].min()
        rows = np.concatenate([rows, said[:, None]], axis=1)
        logits, strays = ruled(part, grounds, rows, owner, self._weights.full.logits(rows))
        return Judged(owner=owner, number=number, rows=rows, logits=logits, astray=strays)


def ruled(
    part: Asked,
    grounds: Sequence[Ground],
    rows: NDArray[np.float64],
    owner: NDArray[np.intp],
    logits: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The head's log-odds held to two plain rules, and which strips are astray."""
    lacking, strays = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    for place, ground in enumerate(grounds):
        own = owner == place
        lacking[own] = lacks_term(part, ground)
        strays[own] = astray(part, ground, rows[own])
    held = logits - LACKS_TERM * lacking
    return np.where(strays, np.minimum(held, ASTRAY_MOST), held), strays


def question_text(part: Asked) -> Text:
    ids = np.array(part.read.ids[:QUESTION_TOKENS], np.int32)
    return Text(tokens=part.read.tokens[:QUESTION_TOKENS], ids=ids, above=np.zeros(len(ids), np.bool_))


def strip_text(ground: Ground, number: int) -> Text:
    places = np.flatnonzero(ground.inside[number])[:STRIP_TOKENS]
    prepared = ground.prepared
    return Text(tokens=prepared.tokens[places], ids=prepared.ids[places], above=prepared.starts[places] < 0)


def probability(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return result
