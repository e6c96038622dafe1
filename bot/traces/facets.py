"""What there is to choose from when traces are filtered."""

from dataclasses import dataclass

from sqlalchemy import func, select, tuple_
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
        .subquery()
    )
    columns = (newest.c.channel, newest.c.asker, newest.c.model)
    query = (
        select(*(func.coalesce(column, "") for column in columns))
        .group_by(func.grouping_sets(*(tuple_(column) for column in columns)))
        .order_by(func.count().desc())
    )
    async with engine.connect() as connection:
        found = (await connection.execute(query)).all()
    channels, askers, models = (tuple(row[place] for row in found if row[place])[:MOST] for place in range(3))
    return Facets(channels=channels, askers=askers, models=models)
