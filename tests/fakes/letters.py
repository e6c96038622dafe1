"""An embedding model for tests: texts of the same letters are alike."""

from collections.abc import Sequence

import numpy as np

from crag_graph.embedding import Vectors


class LetterEmbedder:
    """Unit vectors of letter counts."""

    name = "letters"
    dimensions = 26

    async def embed(self, texts: Sequence[str]) -> Vectors:
        counts = np.array([[text.lower().count(chr(97 + n)) + 0.01 for n in range(26)] for text in texts], np.float32)
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), np.float32)
