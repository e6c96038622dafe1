"""Judges passages and strips on the machine itself: one forward pass of the question, and arithmetic."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crag_graph.domain import Part, Passage, Score, Strip
from crag_graph.embedding import TokenEmbedder
from crag_graph.evaluators.calibration import Calibration
from crag_graph.evaluators.choosing import helpful
from crag_graph.evaluators.judging import Judge, Judged, probability
from crag_graph.evaluators.parts import parts
from crag_graph.evaluators.prepared import Prepared, Preparer, unpack
from crag_graph.evaluators.reasons import reason
from crag_graph.evaluators.signals import Asked, Ground, asked, ground
from crag_graph.evaluators.weights import Weights, load
from crag_graph.services import Evaluation, Filtering
from crag_graph.strips import decompose


class LocalEvaluator:
    """Implements services.Evaluator; makes no model call.

    Passages that were prepared at ingest cost no forward pass; others (web pages) are read now.
    """

    def __init__(
        self, embedder: TokenEmbedder, *, calibration: Calibration | None = None, weights: Weights | None = None
    ) -> None:
        self._embedder = embedder
        self._preparer = Preparer(embedder)
        self._judge = Judge(weights or load())
        self._calibration = calibration or Calibration()

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        texts = parts(question)
        if not passages:
            return Evaluation(scores=(), parts=tuple(Part(text=text, scores=()) for text in texts))
        read = await self._asked(texts)
        prepared = await self._prepared(passages)
        return await asyncio.to_thread(self._evaluation, read, passages, prepared)

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        if not strips:
            return Filtering(scores=(), keep=())
        read = await self._asked(parts(question))
        passages = list({id(strip.passage): strip.passage for strip in strips}.values())
        prepared = await self._prepared(passages)
        return await asyncio.to_thread(self._filtering, read, strips, passages, prepared)

    async def _asked(self, texts: Sequence[str]) -> list[Asked]:
        vectors = await self._embedder.embed_tokens(texts)
        return [
            asked(text, read, self._judge.rarity, alone=len(texts) == 1)
            for text, read in zip(texts, vectors, strict=True)
        ]

    async def _prepared(self, passages: Sequence[Passage]) -> list[Prepared]:
        blobs = [passage.features if unpack(passage.features) else None for passage in passages]
        bare = [passage for passage, known in zip(passages, blobs, strict=True) if known is None]
        made = iter(
            await self._preparer.featurize(
                [passage.title for passage in bare],
                [passage.location for passage in bare],
                [passage.text for passage in bare],
            )
        )
        return [prepared for blob in blobs if (prepared := unpack(blob or next(made)))]

    def _evaluation(
        self, read: Sequence[Asked], passages: Sequence[Passage], prepared: Sequence[Prepared]
    ) -> Evaluation:
        grounds = [
            ground(passage, decompose(passage), known) for passage, known in zip(passages, prepared, strict=True)
        ]
        judged = tuple(Part(text=part.text, scores=self._scores(part, grounds)) for part in read)
        columns = zip(*(part.scores for part in judged), strict=True)
        return Evaluation(scores=tuple(max(column, key=_value) for column in columns), parts=judged)

    def _scores(self, part: Asked, grounds: Sequence[Ground]) -> tuple[Score, ...]:
        judged = self._judge.strips(part, grounds)
        values = self._calibration(probability(judged.logits))
        return tuple(_passage_score(part, judged, values, place, ground) for place, ground in enumerate(grounds))

    def _filtering(
        self,
        read: Sequence[Asked],
        strips: Sequence[Strip],
        passages: Sequence[Passage],
        prepared: Sequence[Prepared],
    ) -> Filtering:
        own = [[n for n, strip in enumerate(strips) if strip.passage is passage] for passage in passages]
        grounds = [
            ground(passage, [strips[n] for n in numbers], known)
            for passage, numbers, known in zip(passages, own, prepared, strict=True)
        ]
        order = [n for numbers in own for n in numbers]
        values = np.zeros((len(read), len(strips)))
        strays = np.zeros((len(read), len(strips)), bool)
        for row, part in enumerate(read):
            judged = self._judge.strips(part, grounds)
            values[row, order] = self._calibration(probability(judged.logits))
            strays[row, order] = judged.astray
        best = np.argmax(values, axis=0)
        place = {n: (passage, number) for passage, numbers in enumerate(own) for number, n in enumerate(numbers)}
        scores = tuple(
            Score(
                value=float(values[best[n], n]),
                reason=reason(read[best[n]], grounds[place[n][0]], place[n][1], float(values[best[n], n])),
            )
            for n in range(len(strips))
        )
        return Filtering(scores=scores, keep=tuple(bool(kept) for kept in helpful(np.where(strays, 0.0, values))))


def _passage_score(part: Asked, judged: Judged, values: NDArray[np.float64], place: int, ground: Ground) -> Score:
    """A passage is worth what its best strip is worth."""
    own = np.flatnonzero(judged.owner == place)
    if not len(own):
        return Score(value=0.0, reason="the passage is empty")
    best = own[np.argmax(values[own])]
    value = float(values[best])
    return Score(value=value, reason=reason(part, ground, int(judged.number[best]), value))


def _value(score: Score) -> float:
    return score.value
