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
from crag_graph.knowledge.library import passage_of
from crag_graph.knowledge.words import storable, words_of
from crag_graph.services import Retrieval, ServiceError

FUSION = 20
FEW = 2_000  # passages that are compared one by one in any case, by meaning and by words


@dataclass(frozen=True, kw_only=True)
class Breadth:
    """How wide search looks. The defaults are measured: benchmarks/search.md."""

    candidates: int = 40
    """Passages that either way, meaning and words, hands to the fusion; at least four times what is asked for."""
    index: int = 80
    """pgvector's ef_search: how many passages the vector index holds at once."""
    exact: bool | None = None
    """Compare with every visible passage, or look with the vector index; None: whichever is faster."""
    hits: int = 300
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
        with library_errors():
            commonness, visible = await self._corpus.look(spaces)
            chosen = commonness.rarest_first(words_of(cleaned))[: self._breadth.words]
            if not spaces or (vector is None and not chosen):
                return Retrieval(passages=(), faults=faults)
            hits = max(self._breadth.hits, FEW if visible <= FEW else 0)
            exact = _few(visible, of=commonness.passages) if self._breadth.exact is None else self._breadth.exact
            rows = await self._rows(
                _statement(dimensions=None if vector is None else len(vector), exact=exact, words=len(chosen)),
                {
                    "spaces": list(spaces),
                    "limit": limit,
                    "candidates": max(self._breadth.candidates, 4 * limit),
                    "breadth": str(self._breadth.index),
                    "hits": hits,
                    "features_version": self._features_version,
                    "vector": None if vector is None else _as_text(vector),
                    "any_word": _any_of(_selective(chosen, commonness, visible, hits)),
                    **{f"word{n}": _any_of([word]) for n, word in enumerate(chosen)},
                },
                prepare=not exact,
            )
        return Retrieval(passages=tuple(passage_of(row) for row in rows), faults=faults)

    async def _embed(self, query: str) -> tuple[Vectors | None, tuple[Fault, ...]]:
        try:
            return (await self._embedder.embed([query]))[0], ()
        except ServiceError as error:
            return None, (Fault(where="retrieve", kind=type(error).__name__, message=str(error)),)

    async def _rows(self, statement: str, parameters: dict[str, Any], *, prepare: bool) -> list[dict[str, Any]]:
        """Past SQLAlchemy, because only the driver sends features as bytes and lets us say what is prepared.

        A prepared statement saves a millisecond of planning, but its plan may be one for any values: right for the
        vector index, wrong where the plan must see how little a space holds.
        """
        async with self._engine.connect() as connection:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            async with driver.cursor(binary=True, row_factory=dict_row) as cursor:
                await cursor.execute(statement, parameters, prepare=prepare)
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


def _statement(*, dimensions: int | None, exact: bool, words: int) -> str:
    """`dimensions`: None without a vector; `words`: how many there are to weigh."""
    parts = []
    if dimensions is not None:
        way = _NEAREST_EXACTLY if exact else _NEAREST_BY_INDEX
        parts.append(way.format(distance=_DISTANCE.format(dimensions=dimensions), dimensions=dimensions))
    if words:
        distance = "NULL" if dimensions is None else _DISTANCE_IF_ANY.format(dimensions=dimensions)
        parts.append(_worded(words, distance))
    ways = [name for name, used in (("nearest", dimensions is not None), ("worded", words)) if used]
    places = " UNION ALL ".join(f"TABLE {name}" for name in ways)
    return "WITH " + ",".join(parts) + _FUSED.format(places=places, fusion=FUSION)


_DISTANCE = "embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})"
_DISTANCE_IF_ANY = f"CASE WHEN vector_dims(embedding) = {{dimensions}} THEN {_DISTANCE} END"

_NEAREST_EXACTLY = """
nearest AS (
    SELECT id, row_number() OVER (ORDER BY distance, id) AS place
    FROM (
        SELECT id, {distance} AS distance FROM passages
        WHERE vector_dims(embedding) = {dimensions} AND space = ANY (%(spaces)s)
        ORDER BY ({distance}) + 0 LIMIT %(candidates)s  -- "+ 0": not by the index
    ) AS found
)"""

# The settings hold for this statement alone, and are made before the inner query runs, because that one reads `spaces`
# from them. The iterative scan goes on until enough of what it finds lies in the spaces. `space || ''` keeps Postgres
# from taking the index on spaces and sorting all that they hold, which it may prefer when it cannot know how much.
_NEAREST_BY_INDEX = """
settings AS MATERIALIZED (
    SELECT %(spaces)s::text[] AS spaces,
           set_config('hnsw.ef_search', %(breadth)s, true),
           set_config('hnsw.iterative_scan', 'relaxed_order', true)
),
nearest AS (
    SELECT id, row_number() OVER (ORDER BY distance, id) AS place
    FROM settings CROSS JOIN LATERAL (
        SELECT id, {distance} AS distance FROM passages
        WHERE vector_dims(embedding) = {dimensions} AND space || '' = ANY (settings.spaces)
        ORDER BY {distance} LIMIT %(candidates)s
    ) AS found
)"""


def _worded(words: int, distance: str) -> str:
    """The passages with the weightiest words; where these are the same, the nearest.

    A word weighs what it does in BM25, ln(1 + (n - f + 0.5) / (f + 0.5)) for a word in f of n hits: nothing if all
    hits have it. How often a passage has it does not count: passages are short.
    """
    marks = range(words)
    has = ", ".join(f"words @@ %(word{n})s::tsquery AS has{n}" for n in marks)
    frequency = ", ".join(f"(count(*) FILTER (WHERE has{n}))::float8 AS f{n}" for n in marks)
    score = " + ".join(f"CASE WHEN has{n} THEN weight{n} ELSE 0 END" for n in marks)
    weights = ", ".join(f"ln(1 + (n - f{n} + 0.5) / (f{n} + 0.5)) AS weight{n}" for n in marks)
    return f"""
hits AS MATERIALIZED (
    SELECT id, {distance} AS distance, {has} FROM passages
    WHERE words @@ %(any_word)s::tsquery AND space = ANY (%(spaces)s) LIMIT %(hits)s
),
frequencies AS (SELECT count(*)::float8 AS n, {frequency} FROM hits),
weights AS (SELECT {weights} FROM frequencies),
scored AS (
    SELECT id, {score} AS score, distance FROM hits CROSS JOIN weights
    ORDER BY score DESC, distance LIMIT %(candidates)s
),
worded AS (SELECT id, row_number() OVER (ORDER BY score DESC, distance, id) AS place FROM scored)"""  # noqa: S608  numbers of our own; every value is a parameter


# Places are fused, not scores: a distance and the weight of words cannot be compared. Reciprocal rank fusion (Cormack et
# al., 2009) has 60 for 20; over lists as short as these, 20 found a little more on seven sets of labelled questions. A
# superseded document counts half: it stands behind its successor, which the same meaning and the same words find, and
# is found all the same where nothing newer says it.
_FUSED = """
SELECT passages.id, passages.document_id, passages.text, passages.headings, passages.page,
       CASE WHEN passages.features_version = %(features_version)s THEN passages.features END AS features,
       documents.title, documents.source, documents.link, documents.superseded
FROM (
    SELECT id, sum(1.0::float8 / ({fusion} + place)) AS score FROM ({places}) AS places
    GROUP BY id ORDER BY score DESC, id LIMIT %(candidates)s
) AS fused
JOIN passages ON passages.id = fused.id JOIN documents ON documents.id = passages.document_id
ORDER BY fused.score * CASE WHEN documents.superseded THEN 0.5 ELSE 1 END DESC, passages.id LIMIT %(limit)s
"""
