"""Documents that came with a question: there as long as their conversation, whose name is their space, unless kept."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from crag_graph.knowledge.border import library_errors
from crag_graph.knowledge.documents import StoredDocument
from crag_graph.knowledge.library import newer_edition, passage_of
from crag_graph.knowledge.tables import documents, passages
from crag_graph.knowledge.words import storable
from crag_graph.services import Retrieval


@dataclass(frozen=True, kw_only=True)
class Attached:
    """Every method raises LibraryError where Postgres is not reachable."""

    engine: AsyncEngine

    async def documents(self, conversation: str) -> tuple[StoredDocument, ...]:
        """What can be asked about in a conversation, in the order in which it came."""
        query = select(documents).where(*_of(conversation), documents.c.passages > 0).order_by(documents.c.id)
        with library_errors():
            async with self.engine.connect() as connection:
                return tuple(StoredDocument(**row) for row in (await connection.execute(query)).mappings())

    async def keep(
        self, conversation: str, sources: Collection[str], *, space: str, by: str
    ) -> tuple[StoredDocument, ...]:
        """Moves whole documents into a space of the library, in place of what it held of them; those that were moved.

        What is kept is named by its address from then on, as what is added from there is.
        """
        whole = select(documents).where(*_of(conversation, sources), documents.c.left_out == 0).with_for_update()
        with library_errors():
            async with self.engine.begin() as connection:
                found = [StoredDocument(**row) for row in (await connection.execute(whole)).mappings()]
                return tuple([await _move(connection, one, space=storable(space), by=by) for one in found])

    async def drop(self, conversation: str, sources: Collection[str] | None = None) -> int:
        """Removes those of the conversation, or of these sources alone; returns how many there were."""
        with library_errors():
            async with self.engine.begin() as connection:
                return (await connection.execute(delete(documents).where(*_of(conversation, sources)))).rowcount

    async def conversations(self, *, before: datetime) -> tuple[str, ...]:
        """Those that nothing came with since."""
        query = (
            select(documents.c.space)
            .where(~documents.c.kept)
            .group_by(documents.c.space)
            .having(func.max(documents.c.added_at) < before)
        )
        with library_errors():
            async with self.engine.connect() as connection:
                return tuple((await connection.execute(query)).scalars())


@dataclass(frozen=True, kw_only=True)
class Beginnings:
    """How documents begin, whatever is asked: for who wants to know what they say as a whole (`services.Library`)."""

    engine: AsyncEngine

    async def search(self, query: str, *, spaces: Sequence[str], limit: int) -> Retrieval:  # noqa: ARG002 - as the protocol has it
        """The first passages of each document, as many of each as of the others, in the order of reading."""
        first = (
            select(passages.c.id)
            .where(passages.c.space.in_(spaces))
            .order_by(passages.c.ordinal, passages.c.document_id)
            .limit(limit)
        )
        read = (
            select(passages, *documents.c["title", "source", "link", "superseded"], newer_edition())
            .join(documents)
            .where(passages.c.id.in_(first))
            .order_by(passages.c.document_id, passages.c.ordinal)
        )
        with library_errors():
            async with self.engine.connect() as connection:
                rows = (await connection.execute(read)).mappings()
                return Retrieval(passages=tuple(passage_of(row) for row in rows))


def _of(conversation: str, sources: Collection[str] | None = None) -> tuple[ColumnElement[bool], ...]:
    mine = (~documents.c.kept, documents.c.space == storable(conversation))
    return mine if sources is None else (*mine, documents.c.source.in_(sources))


async def _move(connection: AsyncConnection, one: StoredDocument, *, space: str, by: str) -> StoredDocument:
    source = one.link or one.source
    older = documents.c.space == space, documents.c.source == source
    await connection.execute(delete(documents).where(*older))
    await connection.execute(update(passages).where(passages.c.document_id == one.id).values(space=space))
    changes = {"space": space, "source": source, "kept": True, "added_by": by, "added_at": func.now()}
    moved = update(documents).where(documents.c.id == one.id).values(changes).returning(documents)
    return StoredDocument(**(await connection.execute(moved)).mappings().one())
