"""Judges passages and strips on the machine itself: one forward pass of the question, and arithmetic."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crag_graph.domain import Part, Passage, Score, Strip
from crag_graph.embedding import TokenEmbedder
from crag_graph.evaluators.calibration import Calibration
from crag_graph.evaluators.choosing import helpful
from crag_graph.evaluators.judging import Judge, probability
from crag_graph.evaluators.parts import LONGEST, parts
from crag_graph.evaluators.prepared import Prepared, Preparer, unpack
from crag_graph.evaluators.reasons import reason
from crag_graph.evaluators.remembered import JudgedPassage, Remembered
from crag_graph.evaluators.signals import Asked, Ground, asked, ground
from crag_graph.evaluators.spelling import meant
from crag_graph.evaluators.weights import Weights, load
from crag_graph.services import Evaluation, Filtering
from crag_graph.strips import decompose


class LocalEvaluator:
    """Implements services.Evaluator; makes no model call.

    Passages that were prepared at ingest cost no forward pass; others (web pages) are read now. What `evaluate` finds
    out about the strips of a passage is kept for the `filter` of the same question.
    """

    def __init__(
        self, embedder: TokenEmbedder, *, calibration: Calibration | None = None, weights: Weights | None = None
    ) -> None:
        self._embedder = embedder
        self._preparer = Preparer(embedder)
        self._judge = Judge(weights or load())
        self._calibration = calibration or Calibration()
        self._remembered = Remembered()

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        if not passages:
            return Evaluation(scores=(), parts=tuple(Part(text=text, scores=()) for text in parts(question)))
        texts = await self._meant(question, passages)
        read = await self._asked(texts)
        strips = [decompose(passage) for passage in passages]
        judged = await self._judged(read, passages, strips)
        self._remembered.keep(question, judged, texts)
        return self._evaluation(read, judged)

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        if not strips:
            return Filtering(scores=(), keep=())
        read = await self._asked(self._remembered.texts(question) or parts(question))
        passages = list({id(strip.passage): strip.passage for strip in strips}.values())
        own = [tuple(strip for strip in strips if strip.passage is passage) for passage in passages]
        known = [self._remembered.find(question, mine) for mine in own]
        fresh = [place for place, one in enumerate(known) if one is None]
        made = await self._judged(read, [passages[place] for place in fresh], [own[place] for place in fresh])
        for place, judged in zip(fresh, made, strict=True):
            known[place] = judged
        return self._filtering(read, strips, list(zip(own, known, strict=True)))

    async def _meant(self, question: str, passages: Sequence[Passage]) -> tuple[str, ...]:
        """The parts of the question, slips of the pen undone by what was found for it."""
        if len(question) > LONGEST:
            return parts(question)
        (read,) = await self._embedder.embed_tokens([question])
        texts = [f"{passage.title} {passage.location} {passage.text}" for passage in passages]
        return parts(await asyncio.to_thread(meant, question, read, texts))

    async def _asked(self, texts: Sequence[str]) -> list[Asked]:
        vectors = await self._embedder.embed_tokens(texts)
        return [
            asked(text, read, self._judge.rarity, alone=len(texts) == 1)
            for text, read in zip(texts, vectors, strict=True)
        ]

    async def _judged(
        self, read: Sequence[Asked], passages: Sequence[Passage], strips: Sequence[Sequence[Strip]]
    ) -> list[JudgedPassage]:
        if not passages:
            return []
        prepared = await self._prepared(passages)
        return await asyncio.to_thread(self._judge_all, read, passages, strips, prepared)

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

    def _judge_all(
        self,
        read: Sequence[Asked],
        passages: Sequence[Passage],
        strips: Sequence[Sequence[Strip]],
        prepared: Sequence[Prepared],
    ) -> list[JudgedPassage]:
        grounds = [ground(*each) for each in zip(passages, strips, prepared, strict=True)]
        judged = [self._judge.strips(part, grounds) for part in read]
        ends = np.cumsum([len(own) for own in strips])[:-1]
        logits = np.split(np.stack([part.logits for part in judged]), ends, axis=1)
        astray = np.split(np.stack([part.astray for part in judged]), ends, axis=1)
        return [
            JudgedPassage(ground=one, logits=odds, astray=strays)
            for one, odds, strays in zip(grounds, logits, astray, strict=True)
        ]

    def _evaluation(self, read: Sequence[Asked], judged: Sequence[JudgedPassage]) -> Evaluation:
        judged_parts = tuple(
            Part(text=part.text, scores=tuple(self._passage_score(part, number, one) for one in judged))
            for number, part in enumerate(read)
        )
        columns = zip(*(part.scores for part in judged_parts), strict=True)
        return Evaluation(scores=tuple(max(column, key=_value) for column in columns), parts=judged_parts)

    def _passage_score(self, part: Asked, number: int, judged: JudgedPassage) -> Score:
        """A passage is worth what its best strip is worth."""
        values = self._values(judged)[number]
        if not len(values):
            return Score(value=0.0, reason="the passage is empty")
        best = int(np.argmax(values))
        value = float(values[best])
        return Score(value=value, reason=reason(part, judged.ground, best, value))

    def _filtering(
        self,
        read: Sequence[Asked],
        strips: Sequence[Strip],
        judged: Sequence[tuple[Sequence[Strip], JudgedPassage | None]],
    ) -> Filtering:
        """`judged`: the strips of each passage as given, and what was found out about them."""
        found: dict[int, tuple[Ground, int, NDArray[np.float64], NDArray[np.float64]]] = {}
        for own, one in judged:
            if one:
                values = self._values(one)
                kept_in = np.where(one.astray, 0.0, values)
                found |= {id(s): (one.ground, n, values[:, n], kept_in[:, n]) for n, s in enumerate(own)}
        scores = []
        for strip in strips:
            where, number, values, _ = found[id(strip)]
            best = int(np.argmax(values))
            value = float(values[best])
            scores.append(Score(value=value, reason=reason(read[best], where, number, value)))
        by_part = [found[id(strip)][3] for strip in strips]
        return Filtering(
            scores=tuple(scores),
            keep=tuple(bool(keep) for keep in helpful(np.stack(by_part, axis=1))),
            by_part=tuple(tuple(values.tolist()) for values in by_part),
        )

    def _values(self, judged: JudgedPassage) -> NDArray[np.float64]:
        return self._calibration(probability(judged.logits))


def _value(score: Score) -> float:
    return score.value
