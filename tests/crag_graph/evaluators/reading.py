"""Token vectors by chance: questions and strips that a reader can be asked about."""

import numpy as np

from crag_graph.evaluators.reader import Text


def pairs(count: int = 3) -> list[tuple[Text, Text]]:
    chance = np.random.default_rng(4)
    return [(_text(chance, 5 + number), _text(chance, 12)) for number in range(count)]


def _text(chance: np.random.Generator, length: int) -> Text:
    tokens = chance.normal(size=(length, 384)).astype(np.float32)
    return Text(
        tokens=tokens / np.linalg.norm(tokens, axis=1, keepdims=True),
        ids=chance.integers(1_000, 20_000, length).astype(np.int32),
        above=np.zeros(length, np.bool_),
    )
