"""Embeddings from any server that speaks OpenAI's protocol."""

from collections.abc import Sequence

import numpy as np
import openai
from langchain_openai import OpenAIEmbeddings

from crag_graph.embedding import Vectors
from crag_graph.models.api_errors import translated
from crag_graph.models.connections import Connections
from crag_graph.services import ModelReplyError

_BLANK = " "
"""Stands for an empty text, which servers refuse."""


class ApiEmbedder:
    """Implements embedding.Embedder over OpenAIEmbeddings.

    `dimensions` asks the server for shorter vectors, where the model can do that. Without it the model's own
    length is learnt from the first reply; until then, or `await discover()`, `dimensions` is 0.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        model: str,
        dimensions: int | None = None,
        batch: int = 128,
        timeout: float = 30.0,
    ) -> None:
        self.name = model if dimensions is None else f"{model}@{dimensions}"
        self._model = model
        self._base_url = base_url
        self._api_key = api_key
        self._asked_dimensions = dimensions
        self.dimensions = dimensions or 0
        self._batch = batch
        self._timeout = timeout
        self._connections = Connections(self._embeddings, timeout=timeout)

    async def discover(self) -> int:
        """The length of the model's vectors; asks the server once."""
        if not self.dimensions:
            await self.embed(["dimensions"])
        return self.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        with translated():
            rows = await self._connections.client().aembed_documents([_sendable(text) for text in texts])
            vectors = np.asarray(rows, dtype=np.float32)
        self._check(vectors, len(texts))
        return _unit(vectors)

    async def close(self) -> None:
        await self._connections.close()

    def _check(self, vectors: Vectors, count: int) -> None:
        """The reply has one vector a text, all of the length that was seen before, and all numbers are finite."""
        if vectors.ndim != 2 or len(vectors) != count:  # noqa: PLR2004 - a matrix
            raise ModelReplyError(f"It holds {len(vectors)} vectors for {count} texts.")
        if not self.dimensions:
            self.dimensions = vectors.shape[1]
        if vectors.shape[1] != self.dimensions:
            raise ModelReplyError(f"Its vectors have {vectors.shape[1]} dimensions, not {self.dimensions}.")
        if not np.isfinite(vectors).all():
            raise ModelReplyError("Its vectors are not finite.")

    def _embeddings(self, http: openai.DefaultAsyncHttpxClient) -> OpenAIEmbeddings:
        async def key() -> str:  # an async key spares a second, blocking client
            return self._api_key

        return OpenAIEmbeddings(
            model=self._model,
            base_url=self._base_url,
            api_key=key,
            dimensions=self._asked_dimensions,
            http_async_client=http,
            timeout=self._timeout,
            chunk_size=self._batch,
            max_retries=0,
            check_embedding_ctx_length=False,
        )


def _sendable(text: str) -> str:
    """NUL and lone surrogates break servers and the encoder; an empty text is refused."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8") or _BLANK


def _unit(vectors: Vectors) -> Vectors:
    """Rows of unit length; a zero row, which means nothing, points along the first axis."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    fixed = np.where(
        norms == 0, np.eye(1, vectors.shape[1], dtype=np.float32), vectors / np.where(norms == 0, 1, norms)
    )
    return np.ascontiguousarray(fixed, dtype=np.float32)
