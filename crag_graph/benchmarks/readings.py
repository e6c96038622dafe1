"""Collections read once by the embedding model, and searched in memory as the product searches them."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crag_graph.benchmarks.cases import Collection, Question
from crag_graph.benchmarks.rewriting import Index, fused
from crag_graph.domain import Passage, Strip
from crag_graph.embedding import TokenEmbedder, TokenVectors
from crag_graph.evaluators.parts import parts
from crag_graph.evaluators.prepared import Prepared, Preparer, unpack
from crag_graph.evaluators.signals import Ground, ground
from crag_graph.strips import decompose
from crag_graph.times import times_asked_for

SUPERSEDED = 0.5
"""A superseded document's fused score counts half, as in the library's search."""


@dataclass(frozen=True, kw_only=True)
class Library:
    """A collection with what is prepared of its passages, and its questions' parts as read."""

    collection: Collection
    prepared: tuple[Prepared, ...]
    read: dict[str, TokenVectors]

    @cached_property
    def index(self) -> Index:
        texts = [(passage.id, f"{passage.title} {passage.location} {passage.text}") for passage in self.passages]
        return Index(texts, np.stack([prepared.pooled for prepared in self.prepared]))

    @cached_property
    def strips(self) -> tuple[tuple[Strip, ...], ...]:
        return tuple(decompose(passage) for passage in self.passages)

    @cached_property
    def grounds(self) -> tuple[Ground, ...]:
        return tuple(
            ground(passage, strips, prepared)
            for passage, strips, prepared in zip(self.passages, self.strips, self.prepared, strict=True)
        )

    @property
    def passages(self) -> tuple[Passage, ...]:
        return self.collection.passages

    def search(self, text: str, *, limit: int = 8, without: Sequence[int] = ()) -> list[int]:
        """Numbers of the best passages by words and by meaning, fused by rank."""
        words, meaning = self.index.by_words(text), self.index.by_meaning(self.read[text].pooled)
        times = times_asked_for(text)
        weights = np.array(
            [
                SUPERSEDED if one.superseded and not times.meant(f"{one.title} {one.source}") else 1.0
                for one in self.passages
            ]
        )
        order: NDArray[np.intp] = np.argsort(-fused(words, meaning) * weights, kind="stable")
        return [int(number) for number in order if number not in without][:limit]


async def read(collection: Collection, embedder: TokenEmbedder, cache: Path | None = None) -> Library:
    """Runs every passage and question through the model; with `cache` (a folder) only once."""
    stored = cache / f"{collection.name}.pickle" if cache else None
    texts = sorted({text for question in collection.questions for text in _asked(question)})
    if stored and stored.exists():
        blobs, vectors = pickle.loads(stored.read_bytes())  # noqa: S301 - written by the lines below
    else:
        passages = collection.passages
        blobs = await Preparer(embedder).featurize(
            [passage.title for passage in passages],
            [passage.location for passage in passages],
            [passage.text for passage in passages],
        )
        vectors = {}
    missing = [text for text in texts if text not in vectors]
    vectors |= dict(zip(missing, await embedder.embed_tokens(missing), strict=True))
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_bytes(pickle.dumps((blobs, vectors)))
    prepared = tuple(whole for blob in blobs if (whole := unpack(blob)))
    return Library(collection=collection, prepared=prepared, read=vectors)


def _asked(question: Question) -> tuple[str, ...]:
    return (question.text, *parts(question.text))
