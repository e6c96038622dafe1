"""The log of what admins did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import RowMapping, insert, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.admins import Person
from bot.admin.tables import audit
from bot.cleaning import clean_all

PAGE = 100


@dataclass(frozen=True, kw_only=True)
class Deed:
    """What was done, to what, and what else there is to say about it."""

    action: str
    subject: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


async def note(engine: AsyncEngine, person: Person, deed: Deed) -> None:
    row = {"action": deed.action, "subject": deed.subject, "detail": dict(deed.detail)}
    async with engine.begin() as connection:
        await connection.execute(insert(audit).values(clean_all(row) | {"team": person.team, "person": person.id}))


async def read(engine: AsyncEngine, *, team: str, before: int | None = None) -> Sequence[RowMapping]:
    """The newest hundred deeds of a team's admins, before the one with this number."""
    query = select(audit).where(audit.c.team == team).order_by(audit.c.id.desc()).limit(PAGE)
    if before is not None:
        query = query.where(audit.c.id < before)
    async with engine.connect() as connection:
        return (await connection.execute(query)).mappings().all()
