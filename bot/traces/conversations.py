"""The conversations in which somebody asked last, as the traces tell them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.reading import BEGINNING
from bot.traces.tables import runs


@dataclass(frozen=True, kw_only=True)
class RecentConversation:
    """A conversation by its name, with what the person asked in it last."""

    conversation: str
    channel: str
    question: str
    permalink: str
    asked_at: datetime


async def recent_conversations(
    engine: AsyncEngine, *, team: str, person: str, most: int
) -> tuple[RecentConversation, ...]:
    """Those of one person, the newest first; what was forgotten is not among them."""
    mine = (
        select(
            runs.c.conversation,
            runs.c.channel,
            runs.c.question,
            runs.c.permalink,
            runs.c.started_at.label("asked_at"),
            func.row_number().over(partition_by=runs.c.conversation, order_by=runs.c.started_at.desc()).label("place"),
        )
        .where(
            runs.c.team == team,
            runs.c.asker == person,
            runs.c.conversation.startswith(f"{team}:", autoescape=True),
            runs.c.rerun_of == "",
            runs.c.erased_at.is_(None),
        )
        .subquery()
    )
    told = mine.c["conversation", "channel", "question", "permalink", "asked_at"]
    query = select(*told).where(mine.c.place == 1).order_by(mine.c.asked_at.desc()).limit(most)
    async with engine.connect() as connection:
        rows = [dict(row) for row in (await connection.execute(query)).mappings()]
    return tuple(RecentConversation(**{**row, "question": row["question"][:BEGINNING]}) for row in rows)
