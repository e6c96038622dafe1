"""Who wants to hear of an answer as soon as there is one: told once, or not at all."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.tables import runs, wishes

KEPT = timedelta(days=90)
"""After so long nobody waits any more."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """`run`: the trace of the question. `mark` is opaque: it marks the message that tells. `tried`: it may be there."""

    run: str
    team: str
    person: str
    wished_at: datetime
    mark: UUID
    tried: bool


async def make_wish(engine: AsyncEngine, *, team: str, trace: str, person: str) -> bool:
    """The asker of a question wants to be told; False where the person has no such question. Once more changes nothing."""
    mine = select(runs.c.id, runs.c.team, literal(person)).where(
        runs.c.id == trace, runs.c.team == team, runs.c.asker == person, runs.c.erased_at.is_(None)
    )
    async with engine.begin() as connection:
        if (await connection.execute(mine)).first() is None:
            return False
        await connection.execute(upsert(wishes).from_select(["run", "team", "person"], mine).on_conflict_do_nothing())
    return True


async def teams_that_wait(engine: AsyncEngine) -> tuple[str, ...]:
    """Where somebody still waits to be told."""
    query = select(wishes.c.team).where(*_open()).distinct().order_by(wishes.c.team)
    async with engine.connect() as connection:
        return tuple((await connection.execute(query)).scalars())


async def take_wish(engine: AsyncEngine, trace: str) -> Wish | None:
    """The wish for a trace, noted as about to be told; None where nobody waits, or nobody waits any more."""
    columns = wishes.c["run", "team", "person", "wished_at", "mark"]
    async with engine.begin() as connection:
        which = wishes.c.run == trace, *_open()
        query = select(*columns, wishes.c.tried_at.is_not(None).label("tried")).where(*which).with_for_update()
        row = (await connection.execute(query)).mappings().first()
        if row is None:
            return None
        await connection.execute(update(wishes).where(wishes.c.run == trace).values(tried_at=func.now()))
    return Wish(**row)


async def fulfilled(engine: AsyncEngine, trace: str) -> None:
    """The person was told."""
    async with engine.begin() as connection:
        await connection.execute(update(wishes).where(wishes.c.run == trace).values(told_at=func.now()))


async def drop_wish(engine: AsyncEngine, trace: str) -> None:
    """The person cannot be told."""
    async with engine.begin() as connection:
        await connection.execute(delete(wishes).where(wishes.c.run == trace))


def _open() -> tuple[ColumnElement[bool], ...]:
    return wishes.c.told_at.is_(None), wishes.c.wished_at >= func.now() - KEPT
