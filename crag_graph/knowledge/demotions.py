"""Passages that rank lower for questions like one on which they did not help: noted, listed, taken back."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.embedding import Embedder
from crag_graph.knowledge.border import library_errors
from crag_graph.knowledge.tables import demotions, documents, passages
from crag_graph.knowledge.words import storable

NEAR = 0.72
"""Similarity (cosine) from which on two questions count as the same: paraphrases have it, mere neighbours do not."""
BATCH = 200


@dataclass(frozen=True, kw_only=True)
class Against:
    """Which passage, by its document's source and its text, in which spaces, and the question that it did not help."""

    question: str
    spaces: Sequence[str]
    source: str
    text: str
    run: str
    """The trace of the question."""


@dataclass(frozen=True, kw_only=True)
class Demotion:
    """A word against a passage. Without a second one on a question like it, it counts only where it is `firm`."""

    id: int
    space: str
    digest: str
    run: str
    made_by: str
    firm: bool
    question: str
    made_at: datetime


@dataclass(frozen=True, kw_only=True)
class Demotions:
    """Every method raises LibraryError where Postgres is not reachable; those that take a question, what embedding does."""

    engine: AsyncEngine
    embedder: Embedder

    async def note(self, against: Against, *, by: str, firm: bool = False) -> bool:
        """Notes a word against a passage; False where the library does not hold it any more. Once more changes only `firm`."""
        (vector,) = await self.embedder.embed([against.question])
        said = {
            "run": against.run,
            "made_by": by,
            "firm": firm,
            "question": storable(against.question),
            "model": self.embedder.name,
            "embedding": vector,
        }
        places = select(passages.c.space, func.md5(passages.c.text).label("digest")).where(_is(against)).distinct()
        with library_errors():
            async with self.engine.begin() as connection:
                found = (await connection.execute(places)).mappings().all()
                if found:
                    statement = upsert(demotions).values([{**place, **said} for place in found])
                    set_ = {"firm": demotions.c.firm | statement.excluded.firm}
                    await connection.execute(statement.on_conflict_do_update(index_elements=_ONE, set_=set_))
        return bool(found)

    async def take_back(self, against: Against, *, by: str) -> None:
        """Whoever it is says nothing against the passage any more, on that question."""
        own = demotions.c.run == against.run, demotions.c.made_by == by
        which = and_(demotions.c.digest == func.md5(storable(against.text)), *own)
        with library_errors():
            async with self.engine.begin() as connection:
                await connection.execute(delete(demotions).where(which))

    async def undo(self, demotion: int, *, spaces: ColumnElement[bool]) -> bool:
        """Takes one word back; False where these spaces have no such one."""
        with library_errors():
            async with self.engine.begin() as connection:
                gone = await connection.execute(delete(demotions).where(demotions.c.id == demotion, spaces))
                return gone.rowcount == 1

    async def of_texts(self, texts: Sequence[str], *, spaces: Sequence[str]) -> dict[str, tuple[Demotion, ...]]:
        """What was said against passages with these texts, by text, newest first."""
        by_digest = {hashlib.md5(storable(text).encode(), usedforsecurity=False).hexdigest(): text for text in texts}
        which = demotions.c.digest.in_(by_digest), demotions.c.space.in_(spaces)
        query = select(demotions).where(*which).order_by(demotions.c.made_at.desc())
        with library_errors():
            async with self.engine.connect() as connection:
                rows = (await connection.execute(query)).mappings().all()
        said: dict[str, tuple[Demotion, ...]] = {}
        for row in rows:
            text = by_digest[row["digest"]]
            said[text] = (*said.get(text, ()), Demotion(**{name: row[name] for name in _SHOWN}))
        return said

    async def renew(self) -> int:
        """Embeds the questions again that another model has embedded; returns how many there were."""
        query = select(demotions.c.id, demotions.c.question).where(demotions.c.model != self.embedder.name).limit(BATCH)
        renewed = 0
        with library_errors():
            while True:
                async with self.engine.begin() as connection:
                    rows = (await connection.execute(query)).all()
                    if not rows:
                        return renewed
                    vectors = await self.embedder.embed([row.question for row in rows])
                    for row, vector in zip(rows, vectors, strict=True):
                        changes = {"model": self.embedder.name, "embedding": vector}
                        await connection.execute(update(demotions).where(demotions.c.id == row.id).values(changes))
                renewed += len(rows)


_ONE = ("space", "digest", "run", "made_by")
_SHOWN = ("id", "space", "digest", "run", "made_by", "firm", "question", "made_at")


def _is(against: Against) -> ColumnElement[bool]:
    """The passage by its document's source and its text: ids change when a document is read again."""
    document = select(documents.c.id).where(
        documents.c.source == storable(against.source), documents.c.space.in_(against.spaces)
    )
    return and_(passages.c.document_id.in_(document), passages.c.text == storable(against.text))
