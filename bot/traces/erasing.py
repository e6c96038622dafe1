"""Makes traces forget: by conversation, by person, by age. Numbers stay where texts go."""

from datetime import UTC, datetime

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.traces.tables import feedback, gap_runs, reviews, runs, steps

BLANK: dict[str, object] = {
    "channel": "",
    "conversation": "",
    "asker": "",
    "permalink": "",
    "question": "",
    "standalone": "",
    "reason": "",
    "web_query": "",
    "answer": "",
    "notice": "",
    "citations": [],
    "spaces": [],
    "review": None,
    "error": "",
}


async def erase_conversation(engine: AsyncEngine, conversation: str) -> int:
    """Erases what the traces of a conversation say; returns how many there were."""
    async with engine.begin() as connection:
        return await _erase(connection, runs.c.conversation == conversation)


async def erase_person(engine: AsyncEngine, *, team: str, person: str) -> int:
    """Erases what a person asked, and takes back what the person said about other answers."""
    async with engine.begin() as connection:
        erased = await _erase(connection, (runs.c.team == team) & (runs.c.asker == person))
        await connection.execute(delete(feedback).where(feedback.c.team == team, feedback.c.person == person))
        return erased


async def delete_older(engine: AsyncEngine, before: datetime) -> int:
    """Deletes the traces of runs that started before; returns how many there were."""
    async with engine.begin() as connection:
        return (await connection.execute(delete(runs).where(runs.c.started_at < before))).rowcount


async def _erase(connection: AsyncConnection, which: ColumnElement[bool]) -> int:
    chosen = select(runs.c.id).where(which)
    for table in (steps, feedback, reviews, gap_runs):
        await connection.execute(delete(table).where(table.c.run.in_(chosen)))
    # A run that is still going on would write its texts later: its row goes, so that it finds nothing to close.
    running = await connection.execute(delete(runs).where(which, runs.c.state == "running"))
    blanked = await connection.execute(update(runs).where(which).values(BLANK | {"erased_at": datetime.now(UTC)}))
    return running.rowcount + blanked.rowcount
