"""People settle in a modal what holds in their channel; who may not, or was overtaken, is told so."""

import time

import pytest

from bot.channels.settings import Changers, ChannelSettings, Ingesters, Manner, WebUse
from bot.slack.incoming import Manners
from bot.slack.views.home import SETTINGS_LABEL
from bot.slack.views.settings import CHANNEL_LABEL, CHOICE, INGEST, LABELS, MANNERS, SWITCHES, TITLE, WEB
from tests.scenarios.slack.bot import Bot, Options, Stage
from tests.slack_workspace import Person
from tests.slack_workspace.modal import Modal, Outcome

MANNER, WEB_SEARCH, OTHERWISE = LABELS["manner"](), LABELS["web"](), LABELS["switches"]()


async def in_force(bot: Bot, stage: Stage) -> ChannelSettings:
    return await bot.channels.of(stage.slack.team.id, stage.travel.id)


async def opens(stage: Stage, person: Person) -> Modal:
    return await person.opens("/crag-settings", in_=stage.travel, title=TITLE())


async def is_told(stage: Stage, person: Person) -> str:
    return (await person.runs("/crag-settings", in_=stage.travel)).screen


def shown(outcome: Outcome) -> str:
    assert outcome.shows is not None, outcome
    return outcome.shows.screen


async def test_a_member_settles_everything_and_it_holds_from_the_next_question_on(either: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    group = stage.slack.group("hr", bob)
    modal = await opens(stage, stage.ada)
    assert LABELS["changers"]() not in modal.fields
    saved = await stage.ada.submits(
        modal,
        {
            MANNER: MANNERS[Manner.ALL](),
            WEB_SEARCH: WEB[WebUse.ASK](),
            OTHERWISE: [SWITCHES["private_first"]()],
            LABELS["bot_turns"](): "3",
            LABELS["ingest"](): INGEST[Ingesters.NAMED](),
            LABELS["ingesters"](): [bob],
            LABELS["callable_people"](): [bob, stage.ada],
            LABELS["callable_groups"](): ["@hr"],
        },
    )
    assert "Saved. This holds from the next question on." in shown(saved)
    assert await in_force(either, stage) == ChannelSettings(
        manner=Manner.ALL,
        web=WebUse.ASK,
        private_first=True,
        workspace=False,
        ingest=Ingesters.NAMED,
        ingesters=(bob.id,),
        bot_turns=3,
        callable_people=(bob.id, stage.ada.id),
        callable_groups=(group.id,),
        version=1,
        changed_by=stage.ada.id,
    )
    (change,) = await either.channels.changes(stage.slack.team.id, stage.travel.id)
    assert (change.person, change.before["web"], change.after["web"]) == (stage.ada.id, "on", "ask")


async def test_the_modal_shows_what_holds_and_who_settled_it(bot: Bot, stage: Stage) -> None:
    await stage.ada.submits(await opens(stage, stage.ada), {WEB_SEARCH: WEB[WebUse.OFF]()})
    again = await opens(stage, stage.joins("Bob"))
    assert "Last changed by @Ada." in again.screen
    assert "Nothing was changed: this holds already." in shown(await stage.ada.submits(again))
    assert (await in_force(bot, stage)).version == 1


async def test_what_cannot_be_is_said_beside_its_field_and_nothing_is_saved(bot: Bot, stage: Stage) -> None:
    wrong = {
        OTHERWISE: [SWITCHES["private_first"](), SWITCHES["bots"]()],
        LABELS["ingest"](): INGEST[Ingesters.NAMED](),
        LABELS["bot_turns"](): "9" * 40,
        LABELS["callable_people"](): [stage.joins(f"Person {n}") for n in range(21)],
    }
    outcome = await stage.ada.submits(await opens(stage, stage.ada), wrong)
    assert outcome.errors is not None
    assert set(outcome.errors) == {
        OTHERWISE,
        LABELS["bot_turns"](),
        LABELS["ingesters"](),
        LABELS["callable_people"](),
    }
    assert (await in_force(bot, stage)).version == 0


async def test_of_two_who_save_at_once_the_second_sees_both_changes_and_loses_nothing(bot: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    hers, his = await opens(stage, stage.ada), await opens(stage, bob)
    await bob.submits(his, {MANNER: MANNERS[Manner.MENTION]()})
    outcome = await stage.ada.submits(hers, {WEB_SEARCH: WEB[WebUse.OFF]()})
    assert "@Bob has changed these settings while you had them open" in shown(outcome)
    assert (await in_force(bot, stage)).web is WebUse.ON
    assert outcome.shows is not None
    assert "Saved." in shown(await stage.ada.submits(outcome.shows))
    now = await in_force(bot, stage)
    assert (now.manner, now.web, now.changed_by) == (Manner.MENTION, WebUse.OFF, stage.ada.id)


async def test_where_only_admins_may_others_see_what_holds_and_change_nothing(stage: Stage) -> None:
    root = stage.joins("Root", admin=True)
    manners = Manners(changers=Changers.ADMINS)
    async with stage.bot(options=Options(http=True, manners=manners)) as bot:
        told = await is_told(stage, stage.ada)
        assert "Only admins may change what holds here" in told
        assert f"{MANNER}: {MANNERS[Manner.THREAD]()}" in told
        await root.submits(await opens(stage, root), {LABELS["changers"](): "Any member of the channel"})
        assert (await in_force(bot, stage)).changers is Changers.MEMBERS
        await stage.ada.submits(await opens(stage, stage.ada), {MANNER: MANNERS[Manner.OFF]()})
        assert (await in_force(bot, stage)).manner is Manner.OFF


async def test_guests_and_strangers_are_told_that_they_may_not(bot: Bot, stage: Stage) -> None:
    for person in (stage.joins("Gus", guest=True), stage.joins("Sam", stranger=True)):
        assert "Guests and people of other organisations" in await is_told(stage, person)


async def test_who_may_not_any_more_when_saving_is_told_and_nothing_is_saved(bot: Bot, stage: Stage) -> None:
    modal = await opens(stage, stage.ada)
    stage.travel.members.remove(stage.ada.id)
    assert "Only members of the channel" in shown(await stage.ada.submits(modal, {MANNER: MANNERS[Manner.OFF]()}))
    assert (await in_force(bot, stage)).version == 0


async def test_a_channel_that_the_bot_is_not_in_or_was_removed_from_has_nothing_to_settle(
    bot: Bot, stage: Stage
) -> None:
    modal = await opens(stage, stage.ada)
    stage.travel.members.remove(stage.slack.bot.id)
    assert "I am not a member of this channel" in shown(await stage.ada.submits(modal))
    assert "I am not a member of this channel" in await is_told(stage, stage.ada)
    hidden = stage.slack.channel("board", members=[stage.ada], private=True)
    refused = await stage.ada.runs("/crag-settings", in_=hidden)
    assert "I am not a member of this channel" in refused.screen


async def test_direct_messages_are_told_what_applies_there(bot: Bot, stage: Stage) -> None:
    told = await stage.ada.runs("/crag-settings", in_=stage.ada.dm)
    assert "Settings are for channels" in told.screen
    assert "In direct messages with me I answer everything you write" in told.screen


@pytest.mark.parametrize(
    ("error", "said"),
    [("expired_trigger_id", "Run /crag-settings again"), ("internal_error", "Try again shortly")],
)
async def test_a_modal_that_slack_does_not_open_is_spoken_of(bot: Bot, stage: Stage, error: str, said: str) -> None:
    stage.slack.faults.next("views.open", error=error)
    assert said in await is_told(stage, stage.ada)


async def chooses(stage: Stage, person: Person) -> Modal:
    """From the home tab, before a channel is chosen."""
    assert (await person.clicks(SETTINGS_LABEL(), on=await person.opens_home())).ok
    return await person.sees_modal(CHOICE())


async def test_the_home_tab_leads_to_the_settings_of_a_channel_as_often_as_one_likes(either: Bot, stage: Stage) -> None:
    for web in (WebUse.OFF, WebUse.ASK):
        modal = await chooses(stage, stage.ada)
        settings = (await stage.ada.submits(modal, {CHANNEL_LABEL(): stage.travel})).shows
        assert settings is not None
        assert "holds for #travel alone" in settings.screen
        assert "Saved." in shown(await stage.ada.submits(settings, {WEB_SEARCH: WEB[web]()}))
        assert (await in_force(either, stage)).web is web
    assert (await in_force(either, stage)).version == 2


async def test_a_channel_that_somebody_may_not_change_is_told_above_the_choice(bot: Bot, stage: Stage) -> None:
    elsewhere = stage.slack.channel("elsewhere", members=[stage.ada])
    others = stage.slack.channel("others", members=[stage.slack.bot])
    closed = stage.slack.channel("closed", members=[stage.ada, stage.slack.bot])
    admins_only = ChannelSettings(changers=Changers.ADMINS)
    await bot.channels.save(stage.slack.team.id, closed.id, admins_only, by=stage.ada.id)
    modal = await chooses(stage, stage.ada)
    for place, said in (
        (elsewhere, "I am not a member of this channel"),
        (others, "Only members of the channel"),
        (closed, "Only admins may change what holds here"),
    ):
        outcome = await stage.ada.submits(modal, {CHANNEL_LABEL(): place})
        assert said in shown(outcome)
        assert outcome.shows is not None
        await stage.ada.closes(outcome.shows)
        assert (await stage.ada.sees_modal()).title == CHOICE()


async def test_guests_find_no_settings_on_their_home_tab_and_open_none_with_a_button_of_others(
    bot: Bot, stage: Stage
) -> None:
    guest = stage.joins("Gus", guest=True)
    hers, his = await stage.ada.opens_home(), await guest.opens_home()
    assert SETTINGS_LABEL() not in his.buttons
    his.view.view = {**his.view.view, "blocks": hers.blocks}
    assert (await guest.clicks(SETTINGS_LABEL(), on=his)).ok
    await stage.slack.until(lambda: "Guests and people of other organisations" in guest.home.screen)


async def test_a_home_tab_whose_modal_slack_does_not_open_says_so(bot: Bot, stage: Stage) -> None:
    home = await stage.ada.opens_home()
    stage.slack.faults.next("views.open", error="expired_trigger_id")
    assert (await stage.ada.clicks(SETTINGS_LABEL(), on=home)).ok
    await stage.slack.until(lambda: "Press the button again" in stage.ada.home.screen)
    assert (await chooses(stage, stage.ada)).is_open


async def test_without_the_permission_to_see_user_groups_the_others_are_asked_for(bot: Bot, stage: Stage) -> None:
    stage.slack.faults.next("usergroups.list", error="missing_scope")
    assert LABELS["callable_groups"]() not in (await opens(stage, stage.ada)).fields


async def test_the_modal_opens_and_answers_within_300_milliseconds(bot: Bot, stage: Stage) -> None:
    await opens(stage, stage.ada)
    started = time.perf_counter()
    modal = await opens(stage, stage.ada)
    opened = time.perf_counter()
    await stage.ada.submits(modal, {MANNER: MANNERS[Manner.ALL]()})
    assert opened - started < 0.3
    assert time.perf_counter() - opened < 0.3
