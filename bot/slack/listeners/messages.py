"""Messages in channels, threads and DMs: a question is queued before Slack is told that it was taken."""

from collections.abc import Mapping
from typing import Any, Protocol

import structlog
from slack_bolt.context.async_context import AsyncBoltContext

from bot.channels.settings import Manner
from bot.inbox import Inbox
from bot.slack.directory import Directory
from bot.slack.incoming import Manners, Me, Message, asks, privately, read
from bot.slack.listeners.library import Shelf, take_files, wants_ingest
from bot.slack.listeners.taking import Taking

log = structlog.get_logger()


async def on_message(body: Mapping[str, Any], me: Me, manners: Manners, shelf: Shelf, taking: Taking) -> None:
    """Raises InboxError, ChannelsError or QueueError where the question cannot be stored: then Slack sends it again."""
    message = read(body, me)
    if message is not None and message.team == me.team:
        async with taking.in_order(message.shared_conversation):
            await _take_in(message, me, manners, shelf, taking)


async def _take_in(message: Message, me: Me, manners: Manners, shelf: Shelf, taking: Taking) -> None:
    settings = manners.adapt(await shelf.channels.of(message.team, message.channel), message.channel, message.kind)
    message = privately(message, settings)
    if not await asks(message, settings, shelf.inbox):
        return
    if message.from_bot and await shelf.inbox.bot_turns(message.conversation) >= settings.bot_turns:
        log.info("bot_ignored", channel=message.channel)
    elif settings.manner is not Manner.OFF and wants_ingest(message, me):
        await take_files(message, shelf)
    else:
        await taking.take(message)


async def on_stop(event: Mapping[str, Any], me: Me, inbox: Inbox) -> None:
    """The Stop button beside a thread."""
    await inbox.stop(f"{me.team}:{event['channel']}:{event.get('thread_ts') or event.get('ts')}")


async def on_place_changed(event: Mapping[str, Any], directory: Directory) -> None:
    """A channel was renamed, archived, shared, left: what we know of it, and of who left or came, is old."""
    channel = event.get("channel") or ""
    directory.forget_place(channel["id"] if isinstance(channel, Mapping) else channel)
    if isinstance(user := event.get("user"), str):
        directory.forget_person(user)


class Asked(Protocol):
    """Whoever knows in which teams the app is."""

    async def check(self, team: str | None) -> object: ...


async def on_removed(event: Mapping[str, Any], context: AsyncBoltContext, teams: Asked) -> None:
    """Slack is asked whether it still is so: the event may come late, when the team has installed the app again."""
    if event["type"] == "tokens_revoked" and not (event.get("tokens") or {}).get("bot"):
        return
    if await teams.check(context.team_id) is not None:
        log.error(
            "app_removed",
            team=context.team_id,
            reason=event["type"],
            advice="Install the app anew; where its token is set, set the new SLACK_BOT_TOKEN.",
        )


async def ignore() -> None:
    """What nobody needs is acknowledged, so that Slack does not send it again."""
