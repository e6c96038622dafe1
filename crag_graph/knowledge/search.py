"""Hybrid search: the nearest by meaning and the best by words, fused by their places, in one round trip."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import dict_row
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.domain import Fault
from crag_graph.embedding import Embedder, Vectors
from crag_graph.knowledge.border import library_errors
from crag_graph.knowledge.corpus import Commonness, Corpus
from crag_graph.knowledge.demotions import NEAR
from crag_graph.knowledge.library import passage_of
from crag_graph.knowledge.statements import search_statement
from crag_graph.knowledge.words import storable, words_of
from crag_graph.services import Retrieval, ServiceError
from crag_graph.times import times_asked_for

FEW = 2_000  # passages that are compared one by one in any case, by meaning and by words


@dataclass(frozen=True, kw_only=True)
class Breadth:
    """How wide search looks. The defaults are measured: benchmarks/search.md."""

    candidates: int = 40
    """Passages that either way, meaning and words, hands to the fusion; at least four times what is asked for."""
    index: int = 60
    """pgvector's ef_search: how many passages the vector index holds at once."""
    exact: bool | None = None
    """Compare with every visible passage, or look with the vector index; None: whichever is faster."""
    hits: int = 200
    """Passages whose words are weighed; where more are visible, the rarest words of the question choose them."""
    words: int = 16
    """Words of a question that count, the rarest ones."""


class HybridSearch:
    """The passages that a question may see (`services.Library`).

    `features_version`: the version of prepared features that the evaluator reads; passages come without others.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        embedder: Embedder,
        *,
        features_version: str | None = None,
        breadth: Breadth | None = None,
        corpus: Corpus | None = None,
    ) -> None:
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._embedder = embedder
        self._features_version = features_version
        self._breadth = breadth or Breadth()
        self._corpus = corpus or Corpus(engine)

    async def search(self, query: str, *, spaces: Sequence[str], limit: int) -> Retrieval:
        """At most `limit` passages of `spaces`, best first; by words alone, and with a fault, if embedding fails."""
        cleaned = storable(query)
        vector, faults = await self._embed(cleaned)
        times = times_asked_for(cleaned)
        with library_errors():
            commonness, visible = await self._corpus.look(spaces)
            chosen = commonness.rarest_first(words_of(cleaned))[: self._breadth.words]
            if not spaces or (vector is None and not chosen):
                return Retrieval(passages=(), faults=faults)
            hits = max(self._breadth.hits, FEW if visible <= FEW else 0)
            exact = _few(visible, of=commonness.passages) if self._breadth.exact is None else self._breadth.exact
            rows = await self._rows(
                search_statement(dimensions=None if vector is None else len(vector), exact=exact, words=len(chosen)),
                {
                    "spaces": list(spaces),
                    "limit": limit,
                    "candidates": max(self._breadth.candidates, 4 * limit),
                    "breadth": str(self._breadth.index),
                    "hits": hits,
                    "features_version": self._features_version,
                    "former": times.former,
                    "years": [f"%{year}%" for year in sorted(times.years)],
                    "model": self._embedder.name,
                    "near": NEAR,
                    "vector": None if vector is None else _as_text(vector),
                    "any_word": _any_of(_selective(chosen, commonness, visible, hits)),
                    **{f"word{n}": _any_of([word]) for n, word in enumerate(chosen)},
                },
            )
        return Retrieval(passages=tuple(passage_of(row) for row in rows), faults=faults)

    async def _embed(self, query: str) -> tuple[Vectors | None, tuple[Fault, ...]]:
        try:
            return (await self._embedder.embed([query]))[0], ()
        except ServiceError as error:
            return None, (Fault(where="retrieve", kind=type(error).__name__, message=str(error)),)

    async def _rows(self, statement: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        """Past SQLAlchemy, because only the driver sends features as bytes, and prepares a statement the first time.

        Planning takes a millisecond. A plan for any values is right for the vector index; for small spaces Postgres
        takes one only where all spaces are small.
        """
        async with self._engine.connect() as connection:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            async with driver.cursor(binary=True, row_factory=dict_row) as cursor:
                await cursor.execute(statement, parameters, prepare=True)
                return list(await cursor.fetchall())


def _few(visible: int, *, of: float) -> bool:
    """Is it faster to compare with every visible passage than to look with the index?

    Comparing costs about 0.8 microseconds a passage. The index costs about 20 for each passage that it visits, and it
    visits 40 / share of them to find 40 visible ones. Both are equal where visible ** 2 is 1,000 times the whole.
    """
    return visible <= FEW or visible**2 <= 1_000 * of


def _as_text(vector: Vectors) -> str:
    """As pgvector reads it, with the four digits that half precision holds and one more."""
    numbers = ",".join(["%.5g"] * len(vector)) % tuple(vector.tolist())
    return f"[{numbers}]"


def _selective(rarest_first: Sequence[str], commonness: Commonness, visible: int, hits: int) -> list[str]:
    """The rarest words, as many as find `hits` visible passages; a common word finds too many, and chooses badly."""
    selected: list[str] = []
    expected = 0.0
    for word in rarest_first:
        expected += visible * commonness.share(word)
        if selected and expected > hits:
            break
        selected.append(word)
    return selected


def _any_of(words: Sequence[str]) -> str:
    """As a tsquery. Words hold letters and digits only: nothing in them needs escaping."""
    return " | ".join(f"'{word}'" for word in words)
