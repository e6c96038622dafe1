"""Gives out what is stored of one person, as plain data that a person can read."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cleaning import clean
from bot.erasing.holding import Whose
from bot.erasing.holdings import HOLDINGS


async def export(engine: AsyncEngine, person: str, *, team: str | None = None) -> dict[str, Any]:
    """The person's own data by kind, each oldest first, in one team or in all.

    What others said is not in it, nor what was told in confidence about other people: of a review by the person there
    is the trace's id and the judgement, not the question.
    """
    whose = Whose(team=clean(team) if team else None, person=clean(person))
    exported: dict[str, Any] = {
        "person": whose.person,
        "team": whose.team,
        "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    async with engine.connect() as connection:
        for holding in HOLDINGS:
            if holding.export:
                query = text(holding.export)
                found = await connection.execute(query, whose.for_query(query))
                exported[holding.kind] = [dict(row) for row in found.mappings()]
    return exported
