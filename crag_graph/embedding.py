"""What search and the local evaluator ask of an embedding model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class TokenVectors:
    """One text through the model once: its pooled vector and one vector a token (special tokens left out).

    `pooled`: shape (d,), unit length. `tokens`: shape (n, d), unit rows. `ids`: n vocabulary ids.
    `offsets`: n pairs of character offsets into the text. Texts beyond the model's window are cut.
    """

    pooled: Vectors
    tokens: Vectors
    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


class Embedder(Protocol):
    """Turns texts into unit vectors whose dot product is their similarity."""

    name: str
    """Identity of the model; an index made with another name is refused."""
    dimensions: int

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), float32, unit rows. Raises ModelBusyError or ModelRejectedError."""


class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives token vectors from the same forward pass."""

    async def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]: ...


class Featurizer(Protocol):
    """Prepares at ingest what an evaluator needs at question time."""

    version: str
    """Features of another version are ignored."""

    async def featurize(self, titles: Sequence[str], locations: Sequence[str], texts: Sequence[str]) -> list[bytes]:
        """One blob per passage; the three sequences have the same length."""
