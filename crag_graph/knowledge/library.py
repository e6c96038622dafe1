"""The library as a store: a document comes in whole, is replaced whole, and goes whole."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Text, bindparam, delete, func, insert, or_, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from crag_graph.domain import Kind, Passage
from crag_graph.embedding import Vectors
from crag_graph.knowledge.border import library_errors
from crag_graph.knowledge.documents import NewDocument, NewPassage, StoredDocument
from crag_graph.knowledge.editions import edition_of
from crag_graph.knowledge.index import expect_model
from crag_graph.knowledge.tables import documents, passages
from crag_graph.knowledge.words import storable, words_of

READY, FAILED = "ready", "failed"
BATCH = 500  # passages sent at once: their features are some 10 kB each


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What the library holds. `stale`: passages that wait to be embedded."""

    documents: int
    passages: int
    failed: int
    stale: int


@dataclass(frozen=True, kw_only=True)
class StalePassage:
    """A passage without a vector of the present model or without features of the asked version."""

    id: int
    title: str
    location: str
    text: str


@dataclass(frozen=True, kw_only=True)
class FreshVectors:
    """What is made again for a stale passage. `embedding`: shape (d,), unit length."""

    id: int
    embedding: Vectors
    features: bytes | None = None


class Library:
    """Documents and their passages. `model` names the embedding model that all vectors given to it are of.

    Every method raises LibraryError where Postgres is not reachable.
    """

    def __init__(self, engine: AsyncEngine, *, model: str) -> None:
        self._engine = engine
        self._model = model

    async def find(self, space: str, source: str) -> StoredDocument | None:
        """A document whose `state` is ready and whose `digest` is the same needs no second ingest."""
        known = documents.c.space == storable(space), documents.c.source == storable(source)
        return next(iter(await self._documents(*known)), None)

    async def document(self, document_id: int) -> StoredDocument | None:
        return next(iter(await self._documents(documents.c.id == document_id)), None)

    async def documents(self, spaces: Sequence[str] | None = None) -> tuple[StoredDocument, ...]:
        """By space and source. Where no spaces are given: of all, without what is only there with its conversation."""
        return await self._documents(*_in_spaces(spaces))

    async def passages(self, document_id: int) -> tuple[Passage, ...]:
        """The passages of a document in its order."""
        query = (
            select(passages, *documents.c["title", "source", "link", "superseded"], newer_edition())
            .join(documents)
            .where(passages.c.document_id == document_id)
            .order_by(passages.c.ordinal)
        )
        with library_errors():
            async with self._engine.connect() as connection:
                return tuple(passage_of(row) for row in (await connection.execute(query)).mappings())

    async def counts(self, spaces: Sequence[str] | None = None) -> Counts:
        whole = select(
            func.count(),
            func.coalesce(func.sum(documents.c.passages), 0),
            func.count().filter(documents.c.state == FAILED),
        ).where(*_in_spaces(spaces))
        bare = select(func.count()).select_from(passages).where(passages.c.embedding.is_(None))
        if spaces is not None:
            bare = bare.where(passages.c.space.in_(spaces))
        with library_errors():
            async with self._engine.connect() as connection:
                total, parts, failed = (await connection.execute(whole)).one()
                stale = (await connection.execute(bare)).scalar_one()
        return Counts(documents=total, passages=parts, failed=failed, stale=stale)

    async def replace(
        self, document: NewDocument, new: Sequence[NewPassage], *, features_version: str | None = None
    ) -> StoredDocument:
        """Stores the document in place of what its space held of its source, in one transaction.

        Of two processes that replace one source at once, the later one waits for the other and wins. Raises
        OtherEmbeddingError where the library went over to another model meanwhile.
        """
        if not new:
            raise ValueError(f"{document.source} has no passages: that is a failed ingest")
        row = _row(document) | {"state": READY, "problem": "", "passages": len(new)}
        with library_errors():
            async with self._engine.begin() as connection:
                await expect_model(connection, self._model)
                document_id = await _put(connection, row, {**row, "added_at": func.now()})
                await connection.execute(delete(passages).where(passages.c.document_id == document_id))
                for start in range(0, len(new), BATCH):
                    rows = await asyncio.to_thread(  # finding the words of thousands of passages takes seconds
                        _passage_rows, document_id, document, new[start : start + BATCH], features_version
                    )
                    await connection.execute(_INSERT_PASSAGES, rows)
                return await _stored(connection, document_id)

    async def record_failure(self, document: NewDocument, problem: str) -> StoredDocument:
        """Notes that an ingest failed, and why; what was stored of the source before stays and is found."""
        note = {"state": FAILED, "problem": storable(problem)}
        with library_errors():
            async with self._engine.begin() as connection:
                return await _stored(connection, await _put(connection, _row(document) | {"digest": ""} | note, note))

    async def remove(self, document_id: int) -> bool:
        """False where there is no such document."""
        with library_errors():
            async with self._engine.begin() as connection:
                return (await connection.execute(delete(documents).where(documents.c.id == document_id))).rowcount == 1

    async def stale(
        self, *, features_version: str | None = None, after: int = 0, limit: int = 256
    ) -> tuple[StalePassage, ...]:
        """Passages to be made fresh, by id and beyond the id `after`; empty when none is left.

        `features_version`: the one that the evaluator reads; None where it reads none.
        """
        reasons: list[ColumnElement[bool]] = [passages.c.embedding.is_(None)]
        if features_version is not None:
            reasons.append(passages.c.features_version.is_distinct_from(features_version))
        query = (
            select(*passages.c["id", "text", "headings", "page"], documents.c.title)
            .join(documents)
            .where(or_(*reasons), passages.c.id > after)
            .order_by(passages.c.id)
            .limit(limit)
        )
        with library_errors():
            async with self._engine.connect() as connection:
                rows = (await connection.execute(query)).all()
        return tuple(
            StalePassage(id=row.id, title=row.title, location=location(row.headings, row.page), text=row.text)
            for row in rows
        )

    async def freshen(self, fresh: Sequence[FreshVectors], *, features_version: str | None = None) -> None:
        """Stores what was made again for stale passages. One that was replaced meanwhile is passed over."""
        if not fresh:
            return
        with library_errors():
            async with self._engine.begin() as connection:
                await expect_model(connection, self._model)
                await connection.execute(
                    _FRESHEN,
                    [
                        {"which": one.id, "vector": one.embedding, "blob": one.features, "version": features_version}
                        for one in fresh
                    ],
                )

    async def refresh_statistics(self) -> None:
        """Lets search know which words have become common; worth its while after many documents came in at once."""
        with library_errors():
            async with self._engine.begin() as connection:
                await connection.execute(text("ANALYZE passages"))

    async def _documents(self, *conditions: ColumnElement[bool]) -> tuple[StoredDocument, ...]:
        query = select(documents).where(*conditions).order_by(documents.c.space, documents.c.source)
        with library_errors():
            async with self._engine.connect() as connection:
                return tuple(StoredDocument(**row) for row in (await connection.execute(query)).mappings())


def passage_of(row: Mapping[str, Any] | RowMapping) -> Passage:
    """From a row with a passage's columns, its document's title, source, link and superseded, and its newer edition."""
    return Passage(
        id=str(row["id"]),
        kind=Kind.INTERNAL,
        document=f"doc:{row['document_id']}",
        source=row["source"],
        title=row["title"],
        text=row["text"],
        location=location(row["headings"], row["page"]),
        link=row["link"],
        superseded=row["superseded"],
        newer=row["newer"] or "",
        features=row["features"],
    )


def newer_edition() -> ColumnElement[str]:
    """Title of the newest edition of the document of a row in its space, NULL where it is that itself."""
    other = documents.alias("other")
    query = (
        select(other.c.title)
        .where(
            other.c.family == documents.c.family,
            other.c.family != "",
            other.c.edition > documents.c.edition,
            other.c.space == documents.c.space,
            other.c.passages > 0,
        )
        .order_by(other.c.edition.desc(), other.c.id)
        .limit(1)
    )
    return query.scalar_subquery().label("newer")


def location(headings: Sequence[str], page: int | None) -> str:
    """As shown to people: the heading path, or the page where there are no headings."""
    return " › ".join(headings) or (f"page {page}" if page else "")


_INSERT_PASSAGES = insert(passages).values(words=func.array_to_tsvector(bindparam("distinct_words", type_=ARRAY(Text))))
_FRESHEN = (
    update(passages)
    .where(passages.c.id == bindparam("which"))
    .values(embedding=bindparam("vector"), features=bindparam("blob"), features_version=bindparam("version"))
)


def _in_spaces(spaces: Sequence[str] | None) -> tuple[ColumnElement[bool], ...]:
    return (documents.c.kept,) if spaces is None else (documents.c.space.in_(spaces),)


def _row(document: NewDocument) -> dict[str, Any]:
    row = {name: storable(value) if isinstance(value, str) else value for name, value in asdict(document).items()}
    edition = edition_of(row["title"])
    return row | {"family": edition.family, "edition": edition.order}


def _passage_rows(
    document_id: int, document: NewDocument, new: Sequence[NewPassage], features_version: str | None
) -> list[dict[str, Any]]:
    return [
        {
            "document_id": document_id,
            "space": storable(document.space),
            "ordinal": one.ordinal,
            "text": storable(one.text),
            "headings": [storable(heading) for heading in one.headings],
            "page": one.page,
            "start_at": one.start,
            "end_at": one.end,
            "distinct_words": words_of(" ".join((document.title, *one.headings, one.text))),
            "embedding": one.embedding,
            "features": one.features,
            "features_version": None if one.features is None else features_version,
        }
        for one in new
    ]


async def _put(connection: AsyncConnection, row: Mapping[str, Any], changes: Mapping[str, Any]) -> int:
    """The id of the source's row, new or changed. It stays locked until the transaction ends."""
    statement = (
        upsert(documents)
        .values(**row)
        .on_conflict_do_update(index_elements=["space", "source"], set_=changes)
        .returning(documents.c.id)
    )
    return int((await connection.execute(statement)).scalar_one())


async def _stored(connection: AsyncConnection, document_id: int) -> StoredDocument:
    row = (await connection.execute(select(documents).where(documents.c.id == document_id))).mappings().one()
    return StoredDocument(**row)
