"""Documents, passages and vectors for tests of the library."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crag_graph.embedding import Vectors
from crag_graph.knowledge.documents import NewDocument, NewPassage

MODEL, DIMENSIONS = "hashed", 32
SPACE = "local/workspace"


class HashedEmbedder:
    """Texts that share words are near each other; nothing else is meant by it."""

    name = MODEL
    dimensions = DIMENSIONS

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([vector(text) for text in texts])


def vector(text: str) -> Vectors:
    total = np.full(DIMENSIONS, 1e-3, dtype=np.float32)
    for word in set(text.lower().split()):
        seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8])
        total += np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)
    return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


def a_document(source: str = "handbook/leave.md", **changes: Any) -> NewDocument:
    document = NewDocument(
        space=SPACE,
        source=source,
        title="Leave",
        loader="markdown",
        digest=hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest(),
        size=100,
        superseded=False,
        added_by="U1",
    )
    return replace(document, **changes)


def some_passages(*texts: str, **changes: Any) -> list[NewPassage]:
    return [
        replace(
            NewPassage(
                ordinal=ordinal,
                text=text,
                headings=("Leave",),
                page=None,
                start=0,
                end=len(text),
                embedding=vector(text),
                features=b"features",
            ),
            **changes,
        )
        for ordinal, text in enumerate(texts)
    ]
