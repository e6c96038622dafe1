"""What was found out about the passages of the last questions, so that the same strips are not judged twice."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crag_graph.domain import Strip
from crag_graph.evaluators.signals import Ground

MOST = 16
"""Questions remembered: about 2.5 MB each."""


@dataclass(frozen=True, kw_only=True)
class JudgedPassage:
    """A passage as it was judged. `logits`, `astray`: shape (parts, strips), as in `Judge.strips`."""

    ground: Ground
    logits: NDArray[np.float64]
    astray: NDArray[np.bool_]


class Remembered:
    """The judged passages of the last questions. A passage is the same when all its strips are."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._by_question: OrderedDict[str, dict[tuple[Strip, ...], JudgedPassage]] = OrderedDict()
        self._texts: dict[str, tuple[str, ...]] = {}

    def keep(self, question: str, judged: Sequence[JudgedPassage], texts: tuple[str, ...]) -> None:
        """`texts`: the parts of the question as they were judged."""
        self._by_question[question] = {one.ground.strips: one for one in judged if one.ground.strips}
        self._texts[question] = texts
        self._by_question.move_to_end(question)
        while len(self._by_question) > self._most:
            oldest, _ = self._by_question.popitem(last=False)
            del self._texts[oldest]

    def texts(self, question: str) -> tuple[str, ...]:
        """The parts as they were judged; none where the question is no longer known."""
        return self._texts.get(question, ())

    def find(self, question: str, strips: tuple[Strip, ...]) -> JudgedPassage | None:
        return self._by_question.get(question, {}).get(strips)
