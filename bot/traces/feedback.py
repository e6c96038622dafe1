"""What askers think of an answer."""

from sqlalchemy import case, func, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cleaning import clean
from bot.traces.tables import feedback, runs

LONGEST_NOTE = 2_000
"""Characters."""


async def give_feedback(
    engine: AsyncEngine, *, team: str, trace: str, person: str, helpful: bool, note: str = ""
) -> bool:
    """Stores a person's opinion, in place of an earlier one; False where the team has no such trace.

    The same opinion once more, without a note, keeps the note that it came with.
    """
    known = select(
        runs.c.id, literal(person), runs.c.team, literal(helpful), literal(clean(note)[:LONGEST_NOTE])
    ).where(runs.c.id == trace, runs.c.team == team, runs.c.erased_at.is_(None))
    fresh = insert(feedback).from_select(["run", "person", "team", "helpful", "note"], known)
    says_no_more = (fresh.excluded.note == "") & (fresh.excluded.helpful == feedback.c.helpful)
    kept = case((says_no_more, feedback.c.note), else_=fresh.excluded.note)
    changes = {"helpful": fresh.excluded.helpful, "note": kept, "given_at": func.now()}
    stored = fresh.on_conflict_do_update(index_elements=["run", "person"], set_=changes).returning(feedback.c.run)
    async with engine.begin() as connection:
        return (await connection.execute(stored)).first() is not None
