"""One-time links that sign an admin in: signed, good for ten minutes, and once."""

import hashlib
import hmac
import secrets
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.admins import Admins, Person
from bot.admin.audit import Deed, note
from bot.admin.tables import key, links

MINUTES = 10
LIFETIME = timedelta(minutes=MINUTES)


class Links:
    """`address`: where browsers reach this service."""

    def __init__(self, engine: AsyncEngine, admins: Admins, *, address: str) -> None:
        self.address = address.rstrip("/")
        self._engine = engine
        self._admins = admins
        self._key = b""

    async def make_for(self, team: str, person: str, vouched: bool = False) -> str | None:
        """The address of a new link; None for whoever is no admin. `vouched`: Slack says, an admin of the workspace."""
        admin = Person(team=team, id=person, vouched=vouched)
        if not self._admins.include(admin):
            return None
        link = await self._make(admin)
        await note(self._engine, admin, Deed(action="asked for a link"))
        return link

    async def _make(self, person: Person) -> str:
        ticket, ends = secrets.token_urlsafe(18), int((datetime.now(UTC) + LIFETIME).timestamp())
        row = {"id": _digest(ticket), "team": person.team, "person": person.id, "vouched": person.vouched}
        async with self._engine.begin() as connection:
            await connection.execute(delete(links).where(links.c.expires_at < func.now() - LIFETIME))
            await connection.execute(insert(links).values(**row, expires_at=datetime.fromtimestamp(ends, UTC)))
        return f"{self.address}/admin/sign-in/{ticket}.{ends}.{await self._sign(ticket, ends)}"

    async def is_good(self, token: str) -> bool:
        """The link was made here, is not too old and was not used."""
        ticket = await self._ticket(token)
        if ticket is None:
            return False
        async with self._engine.connect() as connection:
            found = await connection.execute(select(links.c.id).where(*_usable(ticket)))
            return found.first() is not None

    async def use(self, token: str) -> Person | None:
        """Whom the link was made for, the first time that it is used."""
        ticket = await self._ticket(token)
        if ticket is None:
            return None
        spend = update(links).where(*_usable(ticket)).values(used_at=func.now()).returning(links)
        async with self._engine.begin() as connection:
            row = (await connection.execute(spend)).first()
        return Person(team=row.team, id=row.person, vouched=row.vouched) if row else None

    async def _ticket(self, token: str) -> str | None:
        """The ticket in a token whose signature is ours and whose time is not over."""
        ticket, _, rest = token.partition(".")
        ends, _, signature = rest.partition(".")
        if not (ends.isascii() and ends.isdecimal() and signature.isascii()):
            return None
        if not hmac.compare_digest(signature, await self._sign(ticket, int(ends[:15]))):
            return None
        return ticket if int(ends) > datetime.now(UTC).timestamp() else None

    async def _sign(self, ticket: str, ends: int) -> str:
        if not self._key:
            async with self._engine.connect() as connection:
                self._key = (await connection.execute(select(key.c.key))).scalar_one().encode()
        return hmac.new(self._key, f"{ticket}.{ends}".encode(), hashlib.sha256).hexdigest()


def _usable(ticket: str) -> tuple[ColumnElement[bool], ...]:
    return links.c.id == _digest(ticket), links.c.used_at.is_(None), links.c.expires_at > func.now()


def _digest(ticket: str) -> str:
    return hashlib.sha256(ticket.encode()).hexdigest()
