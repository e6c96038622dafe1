"""What spaces of the library hold, told without their texts: how much, since when, what failed, what it is about."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, true
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.knowledge.border import library_errors
from crag_graph.knowledge.tables import documents, passages

READY, FAILED = "ready", "failed"


@dataclass(frozen=True, kw_only=True)
class SpaceCounts:
    """What one space holds."""

    space: str
    documents: int
    """Those that can be asked about: an old version counts where the new one failed."""
    failed: int
    """Documents whose last ingest failed."""
    added_at: datetime | None
    """When the last one of them came in."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A document whose last ingest failed, and why."""

    space: str
    title: str
    problem: str


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A document, and the first heading in it (empty where it has none)."""

    title: str
    heading: str


async def count_spaces(engine: AsyncEngine, spaces: Sequence[str]) -> tuple[SpaceCounts, ...]:
    """Of those spaces that hold anything, the one that got a document last first. Raises LibraryError."""
    found = documents.c.passages > 0
    latest = func.max(documents.c.added_at).filter(found)
    query = (
        select(
            documents.c.space,
            func.count().filter(found).label("documents"),
            func.count().filter(documents.c.state == FAILED).label("failed"),
            latest.label("added_at"),
        )
        .where(documents.c.space.in_(spaces))
        .group_by(documents.c.space)
        .order_by(latest.desc().nulls_last(), documents.c.space)
    )
    with library_errors():
        async with engine.connect() as connection:
            return tuple(SpaceCounts(**row) for row in (await connection.execute(query)).mappings())


async def failures(engine: AsyncEngine, spaces: Sequence[str], *, most: int) -> tuple[Failure, ...]:
    """The newest ones first. Raises LibraryError."""
    query = (
        select(*documents.c["space", "title", "problem"])
        .where(documents.c.space.in_(spaces), documents.c.state == FAILED)
        .order_by(documents.c.added_at.desc(), documents.c.id.desc())
        .limit(most)
    )
    with library_errors():
        async with engine.connect() as connection:
            return tuple(Failure(**row) for row in (await connection.execute(query)).mappings())


async def topics(
    engine: AsyncEngine, spaces: Sequence[str], *, most: int, without: Sequence[str] = ()
) -> tuple[Topic, ...]:
    """What the newest documents are about, superseded ones left out, and those of the loaders `without`.

    Raises LibraryError.
    """
    newest = (
        select(*documents.c["id", "title", "added_at"])
        .where(documents.c.space.in_(spaces), documents.c.passages > 0, ~documents.c.superseded)
        .where(documents.c.loader.not_in(without))
        .order_by(documents.c.added_at.desc(), documents.c.id.desc())
        .limit(most)
        .subquery()
    )
    heading = (
        select(passages.c.headings[1].label("heading"))
        .where(passages.c.document_id == newest.c.id, func.cardinality(passages.c.headings) > 0)
        .order_by(passages.c.ordinal)
        .limit(1)
        .lateral()
    )
    query = (
        select(newest.c.title, func.coalesce(heading.c.heading, "").label("heading"))
        .join_from(newest, heading, true(), isouter=True)
        .order_by(newest.c.added_at.desc(), newest.c.id.desc())
    )
    with library_errors():
        async with engine.connect() as connection:
            return tuple(Topic(**row) for row in (await connection.execute(query)).mappings())
