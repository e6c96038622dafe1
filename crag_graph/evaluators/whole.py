"""Judges nothing: for a question about documents as a whole, each of which is a part of it."""

from collections.abc import Sequence

from crag_graph.domain import Part, Passage, Score, Strip
from crag_graph.services import Evaluation, Filtering

ALL = Score(value=1.0, reason="The document was asked about as a whole.")
NONE = Score(value=0.0, reason="It is of another document.")


class WholeEvaluator:
    """Implements services.Evaluator: every passage counts, and every strip is kept."""

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        """Of several documents each is a part of the question: none is left out."""
        every = (ALL,) * len(passages)
        titles = tuple(dict.fromkeys(passage.title for passage in passages))
        return Evaluation(
            scores=every,
            parts=tuple(_part(title, passages) for title in titles)
            if titles[1:]
            else (Part(text=question, scores=every),),
        )

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:  # noqa: ARG002 - as the protocol has it
        return Filtering(scores=(ALL,) * len(strips), keep=(True,) * len(strips))


def _part(title: str, passages: Sequence[Passage]) -> Part:
    return Part(text=title, scores=tuple(ALL if passage.title == title else NONE for passage in passages))
