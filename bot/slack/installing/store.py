"""Where the app is installed, and which installations were begun: slack_sdk's own stores, on our engine."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from slack_bolt.error import BoltError
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.sqlalchemy import AsyncSQLAlchemyInstallationStore, SQLAlchemyInstallationStore
from slack_sdk.oauth.state_store.sqlalchemy import AsyncSQLAlchemyOAuthStateStore
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cleaning import clean
from bot.slack.installing.tables import bots, installations, states

EXPIRE = 600
"""Seconds in which an installation that was begun has to be done."""

logger = logging.getLogger("slack.installing")
logger.setLevel(logging.ERROR)  # below, slack_sdk and Bolt log states and codes


class OrgWideError(BoltError):
    """The app was installed for a whole organisation: which of its teams would we be in?"""


class Installations(AsyncSQLAlchemyInstallationStore):
    """One installation for each team: Slack's ids of teams are unique, also within an organisation."""

    def __init__(self, engine: AsyncEngine, client_id: str) -> None:
        super().__init__(client_id, engine, logger=logger)

    async def async_save(self, installation: Installation) -> None:
        """Takes the place of whatever the team had installed before. Raises OrgWideError."""
        if installation.is_enterprise_install or not installation.team_id:
            raise OrgWideError
        await super().async_save(installation)
        async with self.engine.begin() as connection:
            for table in (bots, installations):
                mine = self._is_ours(table, installation.team_id)
                newest = select(func.max(table.c.id)).where(mine).scalar_subquery()
                await connection.execute(delete(table).where(mine, table.c.id < newest))

    async def find(self, team: str) -> Bot | None:
        query = select(bots).where(self._is_ours(bots, team)).order_by(bots.c.id.desc()).limit(1)
        async with self.engine.connect() as connection:
            row = (await connection.execute(query)).mappings().first()
        return _bot(row) if row else None

    async def list(self) -> list[Bot]:
        query = select(bots).where(bots.c.client_id == self.client_id).order_by(bots.c.installed_at, bots.c.id)
        async with self.engine.connect() as connection:
            return [_bot(row) for row in (await connection.execute(query)).mappings()]

    async def remove(self, team: str, *, token: str | None = None) -> bool:
        """With `token`, only as long as it is still the team's: nobody takes away what was installed anew."""
        mine = delete(bots).where(self._is_ours(bots, team))
        async with self.engine.begin() as connection:
            gone = await connection.execute(mine if token is None else mine.where(bots.c.bot_token == token))
            if gone.rowcount:
                await connection.execute(delete(installations).where(self._is_ours(installations, team)))
        return bool(gone.rowcount)

    @asynccontextmanager
    async def alone(self, team: str) -> AsyncIterator[None]:
        """One process at a time works on the team's token."""
        async with self.engine.begin() as connection:
            await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"token:{team}", 0))))
            yield

    def _is_ours(self, table: Any, team: str) -> Any:
        return (table.c.client_id == self.client_id) & (table.c.team_id == team)


class States(AsyncSQLAlchemyOAuthStateStore):
    """A state is good once, also when it comes twice at the same moment."""

    def __init__(self, engine: AsyncEngine) -> None:
        super().__init__(EXPIRE, engine, logger=logger)

    async def async_issue(self, *_args: object, **_kwargs: object) -> str:
        async with self.engine.begin() as connection:
            await connection.execute(delete(states).where(states.c.expire_at < _now()))
        issued: str = await super().async_issue()
        return issued

    async def async_consume(self, state: str) -> bool:
        spend = delete(states).where(states.c.state == clean(state), states.c.expire_at > _now())
        async with self.engine.begin() as connection:
            return (await connection.execute(spend)).rowcount == 1


def _bot(row: Any) -> Bot:
    found: Bot = SQLAlchemyInstallationStore.build_bot_entity(row)
    return found


def _now() -> datetime:
    """As slack_sdk stores moments: in UTC, without saying so."""
    return datetime.now(UTC).replace(tzinfo=None)
