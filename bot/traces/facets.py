"""What there is to choose from when traces are filtered."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.tables import runs

AMONG = 2_000
"""Traces that are looked at, newest first: who has not asked for long can still be filtered by in the address."""
MOST = 50


@dataclass(frozen=True, kw_only=True)
class Facets:
    """Most frequent first."""

    channels: tuple[str, ...]
    askers: tuple[str, ...]
    models: tuple[str, ...]


async def facets(engine: AsyncEngine, *, team: str) -> Facets:
    newest = (
        select(runs.c.channel, runs.c.asker, runs.c.model)
        .where(runs.c.team == team, runs.c.rerun_of == "")
        .order_by(runs.c.started_at.desc(), runs.c.id.desc())
        .limit(AMONG)
        .cte("newest")
    )

    async def values(column: ColumnElement[str]) -> tuple[str, ...]:
        query = select(column).where(column != "").group_by(column).order_by(func.count().desc(), column).limit(MOST)
        return tuple((await connection.execute(query)).scalars())

    async with engine.connect() as connection:
        return Facets(
            channels=await values(newest.c.channel),
            askers=await values(newest.c.asker),
            models=await values(newest.c.model),
        )
