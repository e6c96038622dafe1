"""The settings of a channel in a modal, by `/crag-settings` there or from the home tab, for those who may change them."""

from collections.abc import Mapping
from typing import Any

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.settings import Changers, ChannelSettings
from bot.channels.store import ChangedMeanwhileError
from bot.slack.access import is_member
from bot.slack.incoming import Kind, Manners
from bot.slack.listeners.commands import Command
from bot.slack.listeners.interactions import PRESS_AGAIN, opened
from bot.slack.listeners.library import Shelf
from bot.slack.replies.home import Home
from bot.slack.views.settings import (
    OVERTAKEN,
    SAVED,
    UNCHANGED,
    Group,
    Sheet,
    choice_view,
    chosen_channel,
    entered,
    merged,
    notice_view,
    problems,
    settings_view,
    told,
)
from bot.slack.web import SlackError, heard
from crag_graph.phrases import Phrase

log = structlog.get_logger()

NOT_IN_DMS = Phrase(
    "Settings are for channels: run `/crag-settings` in one. In direct messages with me I answer everything you write, "
    "from what you have added there, from the documents for everybody, and from the web where they are not enough."
)
NOT_THERE = Phrase("I am not a member of this channel, so there is nothing to settle. Invite me with `/invite` first.")
NOT_A_MEMBER = Phrase("Only members of the channel may change what holds there.")
GUESTS = Phrase(
    "Guests and people of other organisations may not change what holds here. Ask a member of the workspace."
)
ADMINS_ONLY = Phrase("Only admins may change what holds here. This is settled:")
RUN_AGAIN = Phrase("That took too long for Slack, or it would not show the settings. Run `/crag-settings` again.")


async def on_settings(
    ack: AsyncAck, body: Mapping[str, Any], client: AsyncWebClient, shelf: Shelf, manners: Manners
) -> None:
    """Raises ChannelsError; whoever ran the command is then told to try again."""
    command = Command.read(body)
    settings = await _in_force(command.channel, shelf, manners)
    if refusal := await _refusal(settings, command.channel, command.user, shelf):
        await ack(refusal)
        return
    view = await _view(settings, command.channel, command.user, client, shelf)
    await ack("" if await opened(client, body, view) else RUN_AGAIN())


async def on_home_settings(
    ack: AsyncAck, body: Mapping[str, Any], client: AsyncWebClient, shelf: Shelf, home: Home
) -> None:
    """The button of the home tab, which is shown to whoever may change some settings."""
    user = body["user"]["id"]
    await ack()
    if not is_member(shelf.me.team, await shelf.directory.person(user)):
        notice = GUESTS()
    elif await opened(client, body, choice_view()):
        return
    else:
        notice = PRESS_AGAIN()
    try:
        await home.show(user, notice=notice)
    except SlackError as error:
        log.info("home_not_shown", code=error.code)


async def on_channel_chosen(
    ack: AsyncAck, body: Mapping[str, Any], client: AsyncWebClient, shelf: Shelf, manners: Manners
) -> None:
    """A refusal lies above the choice: who closes it chooses again. Raises ChannelsError."""
    channel, user = chosen_channel(body["view"]), body["user"]["id"]
    settings = await _in_force(channel, shelf, manners)
    if refusal := await _refusal(settings, channel, user, shelf):
        await ack(response_action="push", view=notice_view(refusal))
    else:
        await ack(response_action="update", view=await _view(settings, channel, user, client, shelf))


async def on_settings_saved(
    ack: AsyncAck,
    body: Mapping[str, Any],
    client: AsyncWebClient,
    shelf: Shelf,
    manners: Manners,
) -> None:
    """Raises ChannelsError: Slack then keeps the modal and says that it had some trouble."""
    view, user = body["view"], body["user"]["id"]
    channel = Sheet.unpacked(view["private_metadata"]).channel
    now = await _in_force(channel, shelf, manners)
    if refusal := await _refusal(now, channel, user, shelf):
        await ack(response_action="update", view=notice_view(refusal))
        return
    wanted = entered(view, now)
    if wrong := problems(wanted):
        await ack(response_action="errors", errors=wrong)
        return
    try:
        saved = await shelf.channels.save(shelf.me.team, channel, wanted, by=user)
    except ChangedMeanwhileError as overtaken:
        mine = await _reconciled(wanted, overtaken.now, channel, shelf)
        notice = OVERTAKEN(person=overtaken.now.changed_by)
        await ack(response_action="update", view=await _view(mine, channel, user, client, shelf, notice=notice))
    else:
        await ack(response_action="update", view=_done(saved, now))


async def _in_force(channel: str, shelf: Shelf, manners: Manners) -> ChannelSettings:
    settings = await shelf.channels.of(shelf.me.team, channel)
    return manners.adapt(settings, channel, (await shelf.directory.place(channel)).kind)


async def _refusal(settings: ChannelSettings, channel: str, user: str, shelf: Shelf) -> str:
    """Why the person may not change the settings of the channel; empty where they may."""
    if channel.startswith("D") or (await shelf.directory.place(channel)).kind is Kind.DM:
        return NOT_IN_DMS()
    here = await shelf.directory.among(channel, {user, shelf.me.user})
    if shelf.me.user not in here:
        return NOT_THERE()
    if user not in here:
        return NOT_A_MEMBER()
    if not is_member(shelf.me.team, await shelf.directory.person(user)):
        return GUESTS()
    if settings.changers is Changers.ADMINS and not await shelf.is_admin(user):
        return "\n".join([ADMINS_ONLY(), *(f"• {line}" for line in told(settings))])
    return ""


async def _view(
    settings: ChannelSettings, channel: str, user: str, client: AsyncWebClient, shelf: Shelf, *, notice: str = ""
) -> dict[str, Any]:
    admin = await shelf.is_admin(user)
    return settings_view(settings, channel, groups=await _groups(client), admin=admin, notice=notice)


async def _groups(client: AsyncWebClient) -> list[Group]:
    """None where the workspace has none, or did not let us know of them: the modal then does not ask for them."""
    try:
        listed = await heard(client.usergroups_list())
    except SlackError as error:
        log.info("groups_unknown", code=error.code)
        return []
    return [Group(id=one["id"], handle=one.get("handle") or one["id"]) for one in listed.get("usergroups", ())]


async def _reconciled(wanted: ChannelSettings, now: ChannelSettings, channel: str, shelf: Shelf) -> ChannelSettings:
    """What the person changed, put into what somebody else has saved meanwhile."""
    changes = await shelf.channels.changes(shelf.me.team, channel)
    base = next((one.before for one in changes if one.version == wanted.version + 1), now.choices())
    return merged(wanted, base, now)


def _done(saved: ChannelSettings, before: ChannelSettings) -> dict[str, Any]:
    return notice_view(SAVED() if saved.version != before.version else UNCHANGED(), told(saved))
