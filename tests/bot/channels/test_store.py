"""The settings of channels: read as they are in force, saved by one at a time, every change recorded."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.channels.settings import Changers, ChannelSettings, Ingesters, Manner, WebUse
from bot.channels.store import ChangedMeanwhileError, Channels, ChannelsError
from bot.database.engine import open_engine


@pytest.fixture
def channels(engine: AsyncEngine) -> Channels:
    return Channels(engine)


EVERYTHING = ChannelSettings(
    manner=Manner.OFF,
    web=WebUse.ASK,
    private_first=True,
    workspace=False,
    ingest=Ingesters.NAMED,
    ingesters=("U0ANN",),
    bots=True,
    bot_turns=2,
    callable_people=("U0BOB", "U0EVE"),
    callable_groups=("S0HR",),
    changers=Changers.ADMINS,
)


async def test_a_channel_where_nothing_was_settled_has_the_default_of_the_installation(engine: AsyncEngine) -> None:
    assert await Channels(engine).of("T1", "C1") == ChannelSettings()
    quiet = ChannelSettings(manner=Manner.MENTION)
    assert (
        await Channels(engine, lambda channel: quiet if channel == "C2" else ChannelSettings()).of("T1", "C2") == quiet
    )


async def test_what_is_saved_is_in_force_in_this_channel_of_this_team_alone(channels: Channels) -> None:
    saved = await channels.save("T1", "C1", EVERYTHING, by="U0ANN")
    assert saved == replace(EVERYTHING, version=1, changed_by="U0ANN")
    assert await channels.of("T1", "C1") == saved
    assert await channels.of("T1", "C2") == await channels.of("T2", "C1") == ChannelSettings()


async def test_every_change_is_recorded_with_its_before_and_after(channels: Channels) -> None:
    first = await channels.save("T1", "C1", ChannelSettings(web=WebUse.ASK), by="U0ANN")
    await channels.save("T1", "C1", replace(first, web=WebUse.OFF), by="U0BOB")
    newest, oldest = await channels.changes("T1", "C1")
    assert (newest.person, newest.before["web"], newest.after["web"], newest.version) == ("U0BOB", "ask", "off", 2)
    assert (oldest.person, oldest.before, oldest.after["web"]) == ("U0ANN", ChannelSettings().choices(), "ask")


async def test_what_is_in_force_already_is_no_change(channels: Channels) -> None:
    saved = await channels.save("T1", "C1", EVERYTHING, by="U0ANN")
    assert await channels.save("T1", "C1", saved, by="U0BOB") == saved
    assert len(await channels.changes("T1", "C1")) == 1


async def test_who_saves_what_was_changed_meanwhile_is_told_what_is_in_force_and_nothing_is_lost(
    channels: Channels,
) -> None:
    seen = await channels.save("T1", "C1", EVERYTHING, by="U0ANN")
    bobs = await channels.save("T1", "C1", replace(seen, manner=Manner.ALL), by="U0BOB")
    with pytest.raises(ChangedMeanwhileError) as refused:
        await channels.save("T1", "C1", replace(seen, web=WebUse.OFF), by="U0ANN")
    assert refused.value.now == bobs == await channels.of("T1", "C1")


@pytest.mark.parametrize("settled", [False, True])
async def test_of_many_who_save_at_once_one_succeeds(channels: Channels, settled: bool) -> None:
    seen = await channels.save("T1", "C1", EVERYTHING, by="U0ANN") if settled else ChannelSettings()
    saves = [channels.save("T1", "C1", replace(seen, bot_turns=10 + n), by=f"U{n}") for n in range(4)]
    outcomes = await asyncio.gather(*saves, return_exceptions=True)
    assert sum(isinstance(one, ChannelSettings) for one in outcomes) == 1
    assert sum(isinstance(one, ChangedMeanwhileError) for one in outcomes) == 3
    assert len(await channels.changes("T1", "C1")) == seen.version + 1


async def test_what_postgres_cannot_hold_is_left_out(channels: Channels) -> None:
    hostile = ChannelSettings(callable_people=("U0\x00ANN", "\ud800"))
    await channels.save("T1", "C\x00", hostile, by="U\x00")
    assert (await channels.of("T1", "C")).changed_by == "U"


async def test_a_database_that_is_away_is_told_in_our_words() -> None:
    nowhere = open_engine("postgresql://crag@127.0.0.1:1/none", pool_size=1)
    with pytest.raises(ChannelsError, match="cannot be reached"):
        await Channels(nowhere).of("T1", "C1")
    await nowhere.dispose()


@pytest.mark.parametrize(
    ("ingest", "may"),
    [
        (Ingesters.EVERYBODY, {"named", "other", "admin"}),
        (Ingesters.NAMED, {"named", "admin"}),
        (Ingesters.ADMINS, {"admin"}),
    ],
)
def test_who_may_add_documents(ingest: Ingesters, may: set[str]) -> None:
    settings = ChannelSettings(ingest=ingest, ingesters=("named",))
    people = ("named", "other", "admin")
    assert {one for one in people if settings.may_ingest(one, admin=one == "admin")} == may
