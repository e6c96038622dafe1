"""A small transformer that reads a question together with a strip, over token vectors that are already there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crag_graph.embedding import Vectors

Array = NDArray[np.float32]
QUESTION_TOKENS = 32
STRIP_TOKENS = 96
HEADS = 4
_FAR = np.float32(-1e4)


@dataclass(frozen=True, kw_only=True)
class Text:
    """Tokens of a question or strip: `tokens` (n, d) unit rows, `ids` (n,), `above` (n,): stands in a heading."""

    tokens: Vectors
    ids: NDArray[np.int32]
    above: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Pairs padded to one length: token vectors, marks of each token, which tokens are there, marks of the pair."""

    question: Array
    question_marks: Array
    question_there: NDArray[np.bool_]
    strip: Array
    strip_marks: Array
    strip_there: NDArray[np.bool_]
    pair: Array


def batch(pairs: Sequence[tuple[Text, Text]], rarity: NDArray[np.float32]) -> Batch:
    """`pairs` are (question, strip). A token's marks: its best similarity on the other side, whether it stands there
    word for word, its rarity, whether it stands in a heading, whether it is of the question.
    """
    count = len(pairs)
    longest = [max(1, *(len(pair[side].ids) for pair in pairs)) for side in (0, 1)]
    sides = [np.zeros((count, longest[side], pairs[0][0].tokens.shape[1]), np.float32) for side in (0, 1)]
    marks = [np.zeros((count, longest[side], 5), np.float32) for side in (0, 1)]
    there = [np.zeros((count, longest[side]), np.bool_) for side in (0, 1)]
    pair_marks = np.zeros((count, 4), np.float32)
    for row, (question, strip) in enumerate(pairs):
        similar = question.tokens @ strip.tokens.T
        same = question.ids[:, None] == strip.ids[None, :]
        for side, text, axis in ((0, question, 1), (1, strip, 0)):
            length = len(text.ids)
            sides[side][row, :length] = text.tokens
            there[side][row, : max(length, 1)] = True
            mark = marks[side][row, :length]
            mark[:, 0] = similar.max(axis=axis, initial=0.0)
            mark[:, 1] = same.any(axis=axis)
            mark[:, 2] = rarity[text.ids]
            mark[:, 3] = text.above
            mark[:, 4] = side == 0
        pair_marks[row] = _pair_marks(marks[0][row, : len(question.ids)])
    return Batch(
        question=sides[0],
        question_marks=marks[0],
        question_there=there[0],
        strip=sides[1],
        strip_marks=marks[1],
        strip_there=there[1],
        pair=pair_marks,
    )


def _pair_marks(marks: Array) -> Array:
    """Similarity weighted by rarity, the least similarity, the share found word for word, the length."""
    if not len(marks):
        return np.zeros(4, np.float32)
    similar, same, rare = marks[:, 0], marks[:, 1], marks[:, 2]
    total = rare.sum() + 1e-6
    return np.array([similar @ rare / total, similar.min(), same @ rare / total, len(marks) / 20], np.float32)


class Reader:
    """Two transformer layers (pre-norm, four heads) in numpy; weights by the names that training gives them."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._weights = weights
        self._layers = len({name.split(".")[1] for name in weights if name.startswith("layers.")})

    def logits(self, pairs: Batch) -> Array:
        """Shape (pairs,): log-odds that the strip answers the question."""
        there = np.concatenate([pairs.question_there, pairs.strip_there], axis=1)
        hidden = np.concatenate(
            [
                self._linear("question", pairs.question) + self._linear("marks", pairs.question_marks),
                self._linear("strip", pairs.strip) + self._linear("marks", pairs.strip_marks),
            ],
            axis=1,
        )
        for number in range(self._layers):
            hidden = self._layer(f"layers.{number}", hidden, there)
        return self._decide(self._norm("norm", hidden), pairs)

    def _layer(self, name: str, hidden: Array, there: NDArray[np.bool_]) -> Array:
        hidden = hidden + self._attend(name, self._norm(f"{name}.norm1", hidden), there)
        inner = _gelu(self._linear(f"{name}.up", self._norm(f"{name}.norm2", hidden)))
        return hidden + self._linear(f"{name}.down", inner)

    def _attend(self, name: str, hidden: Array, there: NDArray[np.bool_]) -> Array:
        count, length, width = hidden.shape
        mixed = self._linear(f"{name}.mix", hidden).reshape(count, length, 3, HEADS, width // HEADS)
        query, key, value = np.moveaxis(mixed, (2, 3), (0, 2))
        scores = query @ key.swapaxes(-1, -2) / np.float32(np.sqrt(width // HEADS))
        shares = _softmax(np.where(there[:, None, None, :], scores, _FAR))
        return self._linear(f"{name}.out", (shares @ value).swapaxes(1, 2).reshape(count, length, width))

    def _decide(self, hidden: Array, pairs: Batch) -> Array:
        length = pairs.question.shape[1]
        asking, strip = hidden[:, :length], hidden[:, length:]
        shares = _softmax(np.where(pairs.question_there, self._linear("weigh", asking)[..., 0], _FAR))
        question = (shares[..., None] * asking).sum(axis=1)
        found = np.where(pairs.strip_there[..., None], strip, _FAR).max(axis=1)
        inner = _gelu(self._linear("join", np.concatenate([question, found, pairs.pair], axis=1)))
        return self._linear("decide", inner)[:, 0]

    def _linear(self, name: str, rows: Array) -> Array:
        result: Array = rows @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return result

    def _norm(self, name: str, rows: Array) -> Array:
        centred = rows - rows.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
        result: Array = centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return result


def _softmax(scores: Array) -> Array:
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: Array = shares / shares.sum(axis=-1, keepdims=True)
    return result


def _gelu(rows: Array) -> Array:
    """The tanh form (Hendrycks and Gimpel, 2016)."""
    cubed = rows * rows * rows  # many times as fast as rows**3
    result: Array = 0.5 * rows * (1 + np.tanh(np.float32(0.7978845608) * (rows + np.float32(0.044715) * cubed)))
    return result
