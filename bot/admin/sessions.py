"""Who is signed in: a random cookie, of which only the hash is stored."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.admins import Person
from bot.admin.tables import sessions

COOKIE = "crag_admin"
HOURS = 12
LONGEST_COOKIE = 100


@dataclass(frozen=True, kw_only=True)
class Session:
    """`name`: what the person is called, or the id. `form_token` is in every form of this session's pages, and nowhere else."""

    person: Person
    form_token: str
    name: str


class Sessions:
    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def start(self, person: Person) -> str:
        """The new session's cookie."""
        cookie = secrets.token_urlsafe(32)
        row = {
            "id": _digest(cookie),
            "team": person.team,
            "person": person.id,
            "vouched": person.vouched,
            "form_token": secrets.token_urlsafe(24),
            "expires_at": datetime.now(UTC) + timedelta(hours=HOURS),
        }
        async with self._engine.begin() as connection:
            await connection.execute(delete(sessions).where(sessions.c.expires_at < func.now()))
            await connection.execute(insert(sessions).values(row))
        return cookie

    async def find(self, cookie: str) -> Session | None:
        if not cookie or len(cookie) > LONGEST_COOKIE:
            return None
        which = sessions.c.id == _digest(cookie), sessions.c.expires_at > func.now()
        async with self._engine.connect() as connection:
            row = (await connection.execute(select(sessions).where(*which))).first()
        if row is None:
            return None
        return Session(
            person=Person(team=row.team, id=row.person, vouched=row.vouched), form_token=row.form_token, name=row.person
        )

    async def end(self, cookie: str) -> None:
        async with self._engine.begin() as connection:
            await connection.execute(delete(sessions).where(sessions.c.id == _digest(cookie)))


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode(errors="replace")).hexdigest()
