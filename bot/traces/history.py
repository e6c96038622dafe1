"""What came before a run in its conversation, and how it went when it was tried again."""

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.reading import Row
from bot.traces.tables import runs
from crag_graph.domain import CitedSource, Turn

MOST_TURNS = 10
"""The newest ones; what was said before them is seldom what a question leans on."""
MOST_RERUNS = 50


async def turns_before(engine: AsyncEngine, run: Row) -> tuple[Row, ...]:
    """The runs that were answered before this one in its conversation, oldest first."""
    query = (
        select(runs)
        .where(
            runs.c.conversation == run["conversation"],
            runs.c.team == run["team"],
            runs.c.started_at < run["started_at"],
            runs.c.state == "answered",
            runs.c.rerun_of == "",
        )
        .order_by(runs.c.started_at.desc())
        .limit(MOST_TURNS)
    )
    return tuple(reversed(await _rows(engine, query))) if run["conversation"] else ()


async def reruns_of(engine: AsyncEngine, run: Row) -> tuple[Row, ...]:
    """Newest first."""
    query = (
        select(runs)
        .where(runs.c.conversation == run["conversation"], runs.c.team == run["team"], runs.c.rerun_of == run["id"])
        .order_by(runs.c.started_at.desc())
        .limit(MOST_RERUNS)
    )
    return tuple(await _rows(engine, query))


def turn_of(run: Row) -> Turn:
    """The run as its conversation remembers it."""
    return Turn(
        question=run["question"],
        standalone=run["standalone"] or run["question"],
        answer=run["answer"],
        sources=[_source(citation) for citation in run["citations"]],
    )


def _source(citation: Row) -> CitedSource:
    return CitedSource(
        mark=citation["mark"],
        kind=citation["kind"],
        title=citation["title"],
        source=citation["source"],
        location=citation["location"],
    )


async def _rows(engine: AsyncEngine, query: Select[tuple[object, ...]]) -> list[Row]:
    async with engine.connect() as connection:
        return [dict(row) for row in (await connection.execute(query)).mappings()]
