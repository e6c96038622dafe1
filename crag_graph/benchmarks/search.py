"""How fast hybrid search is in a large library of made-up passages, and how much of the exact result it finds."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.embedding import Vectors
from crag_graph.knowledge.index import INDEX, prepare_index
from crag_graph.knowledge.search import Breadth, HybridSearch
from crag_graph.services import Retrieval

DIMENSIONS = 384
EVERYONE, CHANNEL = "benchmark/workspace", "benchmark/C1"
CHANNEL_SHARE = 1_000
"""One passage in so many lies in the channel's space."""
TOPICS, SPREAD = 1_000, 1.0
"""Vectors lie around so many topics; SPREAD is the length of what is added to a topic's unit vector."""
VOCABULARY, WORDS_OF_A_PASSAGE, WORDS_OF_A_QUESTION = 50_000, 130, 8
FEATURES, FEATURES_VERSION = 8_000, "benchmark"
"""Bytes of prepared features of a passage."""
PASSAGES_OF_A_DOCUMENT = 20
AT_ONCE = 1_000
LARGE_INDEXES = (INDEX, "passages_words_idx")
LIMIT = 8
WARM_UP = 20


@dataclass(frozen=True, kw_only=True)
class Question:
    text: str
    vector: Vectors


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Milliseconds, the share of the exact result that was found, and the fewest passages that a question got."""

    case: str
    median: float
    p95: float
    recall: float
    fewest: int


class PreparedEmbedder:
    """Knows its questions' vectors beforehand: the measurement is of the search alone."""

    name, dimensions = "benchmark", DIMENSIONS

    def __init__(self, questions: Sequence[Question]) -> None:
        self._vectors = {question.text: question.vector for question in questions}

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vectors[text] for text in texts])


class Invention:
    """Made-up passages and questions, the same each time; words are as common as in a language (Zipf's law)."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)
        self._topics = _unit(self._random.standard_normal((TOPICS, DIMENSIONS)))
        shares = 1 / np.arange(1, VOCABULARY + 1)
        self._up_to = np.cumsum(shares / shares.sum())

    def vectors(self, count: int) -> Vectors:
        noise = self._random.standard_normal((count, DIMENSIONS)) * (SPREAD / DIMENSIONS**0.5)
        return _unit(self._topics[self._random.integers(TOPICS, size=count)] + noise)

    def texts(self, count: int, words: int) -> list[str]:
        numbers = np.searchsorted(self._up_to, self._random.random((count, words)))
        return [" ".join(f"w{number}" for number in row) for row in numbers]

    def questions(self, count: int) -> list[Question]:
        texts = self.texts(count, WORDS_OF_A_QUESTION)
        return [Question(text=text, vector=vector) for text, vector in zip(texts, self.vectors(count), strict=True)]

    def features(self) -> bytes:
        return self._random.bytes(FEATURES)


async def measure(engine: AsyncEngine, *, passages: int, questions: int) -> list[Measurement]:
    """Fills an empty, migrated database and searches in it. `passages`: a multiple of 1,000."""
    await prepare_index(engine, model=PreparedEmbedder.name, dimensions=DIMENSIONS)
    invention = Invention()
    await _fill(engine, invention, passages)
    asked = invention.questions(questions)
    return [
        await _measured(engine, asked, case, spaces)
        for case, spaces in (
            ("everyone's passages (99.9 %)", [EVERYONE]),
            ("everyone's and a channel's (100 %)", [EVERYONE, CHANNEL]),
            ("a channel's alone (0.1 %)", [CHANNEL]),
        )
    ]


async def _measured(
    engine: AsyncEngine, questions: Sequence[Question], case: str, spaces: Sequence[str]
) -> Measurement:
    exact, _ = await _ask_all(engine, questions, spaces, Breadth(exact=True))
    found, milliseconds = await _ask_all(engine, questions, spaces, Breadth())
    shares = [_share(of=true, found=some) for true, some in zip(exact, found, strict=True)]
    return Measurement(
        case=case,
        median=float(np.percentile(milliseconds, 50)),
        p95=float(np.percentile(milliseconds, 95)),
        recall=float(np.mean(shares)),
        fewest=min(len(retrieval.passages) for retrieval in found),
    )


async def _ask_all(
    engine: AsyncEngine, questions: Sequence[Question], spaces: Sequence[str], breadth: Breadth
) -> tuple[list[Retrieval], list[float]]:
    search = HybridSearch(engine, PreparedEmbedder(questions), features_version=FEATURES_VERSION, breadth=breadth)
    for question in questions[:WARM_UP]:
        await search.search(question.text, spaces=spaces, limit=LIMIT)
    retrievals, milliseconds = [], []
    for question in questions:
        since = time.perf_counter()
        retrievals.append(await search.search(question.text, spaces=spaces, limit=LIMIT))
        milliseconds.append((time.perf_counter() - since) * 1_000)
    return retrievals, milliseconds


def _share(*, of: Retrieval, found: Retrieval) -> float:
    true = {passage.id for passage in of.passages}
    return len(true & {passage.id for passage in found.passages}) / len(true) if true else 1.0


async def _fill(engine: AsyncEngine, invention: Invention, passages: int) -> None:
    """Without the large indexes, which are made afterwards in a fraction of the time."""
    autocommit = engine.execution_options(isolation_level="AUTOCOMMIT")
    async with autocommit.connect() as connection:
        definitions = [
            (
                await connection.execute(text("SELECT pg_get_indexdef(CAST(:index AS regclass))"), {"index": index})
            ).scalar_one()
            for index in LARGE_INDEXES
        ]
        await connection.execute(text(f"DROP INDEX {', '.join(LARGE_INDEXES)}"))
        await connection.execute(_DOCUMENTS, _documents(passages))
        driver: Any = (await connection.get_raw_connection()).driver_connection
        async with driver.cursor() as cursor, cursor.copy(_PASSAGES) as copy:
            for row in _rows(invention, passages):
                await copy.write_row(row)
        await connection.execute(text("SET maintenance_work_mem = '2GB'"))
        for definition in definitions:
            await connection.execute(text(definition))
        await connection.execute(text("VACUUM ANALYZE passages"))
        await connection.execute(text("CHECKPOINT"))


def _documents(passages: int) -> dict[str, Any]:
    return {
        "count": passages // PASSAGES_OF_A_DOCUMENT,
        "in_channel": passages // CHANNEL_SHARE // PASSAGES_OF_A_DOCUMENT,
        "everyone": EVERYONE,
        "channel": CHANNEL,
        "size": PASSAGES_OF_A_DOCUMENT,
    }


def _rows(invention: Invention, passages: int) -> Iterator[tuple[Any, ...]]:
    features = invention.features()
    for start in range(0, passages, AT_ONCE):
        texts, vectors = invention.texts(AT_ONCE, WORDS_OF_A_PASSAGE), invention.vectors(AT_ONCE)
        for number, (words, vector) in enumerate(zip(texts, vectors, strict=True), start):
            yield (
                number // PASSAGES_OF_A_DOCUMENT + 1,
                CHANNEL if number < passages // CHANNEL_SHARE else EVERYONE,
                number % PASSAGES_OF_A_DOCUMENT,
                words,
                ["Heading"],
                0,
                len(words),
                " ".join(set(words.split())),
                str([round(value, 5) for value in vector.tolist()]),
                features,
                FEATURES_VERSION,
            )


def _unit(rows: NDArray[np.floating[Any]]) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


_DOCUMENTS = text("""
    INSERT INTO documents (id, space, source, title, loader, digest, size, added_by, passages, state)
    OVERRIDING SYSTEM VALUE
    SELECT n, CASE WHEN n <= :in_channel THEN :channel ELSE :everyone END, 'document ' || n, 'Document', 'text', '', 0, '', :size, 'ready'
    FROM generate_series(1, :count) AS n
""")

_PASSAGES = """
    COPY passages (document_id, space, ordinal, text, headings, start_at, end_at, words, embedding, features,
                   features_version) FROM STDIN
"""
