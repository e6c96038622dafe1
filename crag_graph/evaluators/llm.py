"""Judges passages and strips with a chat model: one call for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from crag_graph.chat import ChatModel
from crag_graph.domain import Part, Passage, Score, Strip
from crag_graph.evaluators import llm_passages, llm_strips
from crag_graph.evaluators.llm_passages import Judgement
from crag_graph.services import Evaluation, Filtering


@dataclass(frozen=True, kw_only=True)
class LabelScores:
    """The score that a label stands for: how often a passage with this label turns out to answer fully.

    Between the thresholds 0.7 and 0.3: full is above, none below, partial between. Refit them for a model
    whose labels are worth more or less.
    """

    full: float = 0.9
    partial: float = 0.5
    none: float = 0.05

    def of(self, label: str) -> float:
        return {"full": self.full, "partial": self.partial, "none": self.none}[label]


class LlmEvaluator:
    """Implements services.Evaluator over a chat model; one call a method, none where there is nothing to judge.

    The model sees passages and strips in an order that depends on their texts alone, under names that say
    nothing about rank, so that shuffled passages get the same verdict.
    """

    def __init__(self, chat: ChatModel, scores: LabelScores | None = None) -> None:
        self._chat = chat
        self._scores = scores or LabelScores()

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        if not passages:
            return Evaluation(scores=(), parts=(Part(text=question, scores=()),))
        texts = sorted({llm_passages.shown(passage) for passage in passages})
        reply = await self._chat.ask("evaluate", llm_passages.request(question, texts), llm_passages.SCHEMA)
        judged = llm_passages.judgements(reply, len(texts))
        by_text = {text: judged.passages.get(number) for number, text in enumerate(texts, 1)}
        of_passages = [by_text[llm_passages.shown(passage)] for passage in passages]
        parts = tuple(
            Part(text=text, scores=tuple(self._score(judgement, place) for judgement in of_passages))
            for place, text in enumerate(judged.parts or (question,))
        )
        columns = zip(*(part.scores for part in parts), strict=True)
        best = tuple(max(scores, key=lambda score: score.value) for scores in columns)
        return Evaluation(scores=best, parts=parts, calls=(reply.call,))

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        if not strips:
            return Filtering(scores=(), keep=())
        places = llm_strips.in_order(strips)
        ordered = [strips[place] for place in places]
        reply = await self._chat.ask("refine", llm_strips.request(question, ordered), llm_strips.SCHEMA)
        chosen = llm_strips.chosen(reply, len(ordered))
        carriers = llm_strips.carriers(ordered, chosen)
        numbers = {place: number for number, place in enumerate(places, 1)}
        return Filtering(
            scores=tuple(self._strip_score(numbers[place], chosen, carriers) for place in range(len(strips))),
            keep=tuple(numbers[place] in chosen | carriers for place in range(len(strips))),
            calls=(reply.call,),
        )

    def _score(self, judgement: Judgement | None, part: int) -> Score:
        if judgement is None:
            # Neither dropped nor trusted: the other passages decide.
            return Score(value=self._scores.partial, reason="not judged by the model")
        return Score(value=self._scores.of(judgement.label(part)), reason=judgement.reason)

    def _strip_score(self, number: int, chosen: set[int], carriers: set[int]) -> Score:
        if number in chosen:
            return Score(value=self._scores.full, reason="chosen by the model")
        if number in carriers:
            return Score(value=self._scores.partial, reason="carries the subject of the next strip")
        return Score(value=self._scores.none, reason="not chosen by the model")
