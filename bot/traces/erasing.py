"""Makes traces forget what was said: of some runs, of a conversation, or by age. The figures stay."""

from datetime import UTC, datetime

from sqlalchemy import ColumnElement, delete, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.traces.tables import feedback, gap_runs, reviews, runs, steps, wishes
from crag_graph.knowledge.tables import demotions

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
    "heard": [],
    "error": "",
}

# Which model was called, how often and how long stays; what it was sent and what it said goes.
_CALLS = text(
    '(SELECT coalesce(jsonb_agg(call || \'{"prompt": "", "reply": ""}\'), \'[]\') FROM jsonb_array_elements(calls) call)'
)
_FAULTS = text(
    "(SELECT coalesce(jsonb_agg(fault || '{\"message\": \"\"}'), '[]') FROM jsonb_array_elements(faults) fault)"
)


async def erase_conversation(engine: AsyncEngine, conversation: str) -> int:
    """Erases what the traces of a conversation say; returns how many there were."""
    async with engine.begin() as connection:
        return await blank(connection, runs.c.conversation == conversation)


async def erase_older(engine: AsyncEngine, before: datetime) -> int:
    """Erases what the traces of runs say that started before; returns how many there were."""
    async with engine.begin() as connection:
        return await blank(connection, (runs.c.started_at < before) & runs.c.erased_at.is_(None))


async def blank(connection: AsyncConnection, which: ColumnElement[bool]) -> int:
    """Erases the texts and the people of some runs and of all that belongs to them; returns how many runs there were."""
    chosen = select(runs.c.id).where(which)
    await connection.execute(delete(wishes).where(wishes.c.run.in_(chosen)))
    await connection.execute(delete(demotions).where(demotions.c.run.in_(chosen)))
    # An embedding tells what a question was about.
    await connection.execute(delete(gap_runs).where(gap_runs.c.run.in_(chosen)))
    for table, blanked in (
        (steps, {"detail": {}, "calls": _CALLS, "faults": _FAULTS}),
        # A vote stays as a figure. It needs a name of its own, because a person has one vote on a run.
        (feedback, {"note": "", "person": func.concat("erased-", func.gen_random_uuid())}),
        (reviews, {"note": "", "answer": "", "passages": {}}),
    ):
        await connection.execute(update(table).where(table.c.run.in_(chosen)).values(blanked))
    # A run that is still going on would write its texts later: its row goes, so that it finds nothing to close.
    running = await connection.execute(delete(runs).where(which, runs.c.state == "running"))
    erased = await connection.execute(update(runs).where(which).values(BLANK | {"erased_at": datetime.now(UTC)}))
    return running.rowcount + erased.rowcount
