"""Reads and saves the settings of channels; two people who save at once cannot overwrite each other unseen."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, bindparam, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.channels.settings import Changers, ChannelSettings, Ingesters, Manner, WebUse
from bot.channels.tables import channel_changes, channel_settings
from bot.cleaning import clean, clean_all

_OF = channel_settings.c.team == bindparam("of_team"), channel_settings.c.channel == bindparam("of_channel")
# Built once: to build it costs more than to send it, and it is asked for each message of a channel.
_READ = select(channel_settings).where(*_OF)


class ChannelsError(Exception):
    """The settings of the channels cannot be reached."""

    def __str__(self) -> str:
        return self.__doc__ or ""


class ChangedMeanwhileError(Exception):
    """Somebody else has changed the settings since they were read; `now` is what is in force."""

    def __init__(self, now: ChannelSettings) -> None:
        super().__init__(self.__doc__)
        self.now = now


@dataclass(frozen=True, kw_only=True)
class Change:
    """One recorded change: who made it, when, and what was settled before and after."""

    person: str
    at: datetime
    version: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def _untouched(_channel: str) -> ChannelSettings:
    return ChannelSettings()


class Channels:
    """`default`: what is in force in a channel where nothing was settled, by its id. All methods raise ChannelsError."""

    def __init__(self, engine: AsyncEngine, default: Callable[[str], ChannelSettings] = _untouched) -> None:
        self._engine = engine
        self._default = default

    async def of(self, team: str, channel: str) -> ChannelSettings:
        """What is in force in the channel, this moment."""
        async with self._connected() as connection:
            return await self._read(connection, team, channel)

    async def save(self, team: str, channel: str, settings: ChannelSettings, *, by: str) -> ChannelSettings:
        """Puts the settings in force and records the change; what is in force already is no change.

        Raises ChangedMeanwhileError where `settings.version` is not the one in force: then nothing was saved.
        """
        team, channel, by = clean(team), clean(channel), clean(by)
        async with self._connected() as connection, connection.begin():
            before = await self._read(connection, team, channel, lock=True)
            if before.version != settings.version:
                raise ChangedMeanwhileError(before)
            if before.choices() == settings.choices():
                return before
            after = replace(settings, version=before.version + 1, changed_by=by)
            if not await _write(connection, team, channel, after):
                raise ChangedMeanwhileError(await self._read(connection, team, channel))
            await _record(connection, team, channel, before, after)
            return after

    async def changes(self, team: str, channel: str, *, most: int = 100) -> Sequence[Change]:
        """What was changed in the channel, the newest first."""
        of = channel_changes.c.team == team, channel_changes.c.channel == channel
        query = select(channel_changes).where(*of).order_by(channel_changes.c.id.desc()).limit(most)
        async with self._connected() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [Change(**{name: row[name] for name in Change.__dataclass_fields__}) for row in rows]

    async def _read(
        self, connection: AsyncConnection, team: str, channel: str, *, lock: bool = False
    ) -> ChannelSettings:
        query = _READ.with_for_update() if lock else _READ
        found = await connection.execute(query, {"of_team": clean(team), "of_channel": clean(channel)})
        row = found.mappings().first()
        return _settings(row) if row else self._default(channel)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise ChannelsError from error


async def _write(connection: AsyncConnection, team: str, channel: str, after: ChannelSettings) -> bool:
    """False where somebody else settled something in the channel for the first time, this moment."""
    values = clean_all(after.choices() | {"version": after.version, "changed_by": after.changed_by})
    if after.version == 1:
        first = upsert(channel_settings).values(team=team, channel=channel, **values).on_conflict_do_nothing()
        return (await connection.execute(first.returning(channel_settings.c.version))).first() is not None
    change = update(channel_settings).where(channel_settings.c.team == team, channel_settings.c.channel == channel)
    await connection.execute(change.values(**values, changed_at=func.now()))
    return True


async def _record(
    connection: AsyncConnection, team: str, channel: str, before: ChannelSettings, after: ChannelSettings
) -> None:
    row = {
        "team": team,
        "channel": channel,
        "version": after.version,
        "person": after.changed_by,
        "before": before.choices(),
        "after": after.choices(),
    }
    await connection.execute(insert(channel_changes).values(clean_all(row)))


def _settings(row: RowMapping) -> ChannelSettings:
    stored = {name: row[name] for name in ChannelSettings.__dataclass_fields__}
    listed = {name: tuple(value) for name, value in stored.items() if isinstance(value, list)}
    return ChannelSettings(
        **stored
        | listed
        | {
            "manner": Manner(row["manner"]),
            "web": WebUse(row["web"]),
            "ingest": Ingesters(row["ingest"]),
            "changers": Changers(row["changers"]),
        }
    )
