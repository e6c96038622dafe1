"""The slash commands: asked privately, forgotten for good; each is acknowledged at once and answers wrong use clearly."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.inbox import Inbox
from bot.jobs import Queue
from bot.slack import words
from bot.slack.directory import Directory
from bot.slack.incoming import PRIVATE, Me, Message, private_conversation
from bot.slack.listeners.taking import Taking
from bot.slack.replies.forgetting import FORGETTING, Wish, ask_to_forget
from bot.slack.text.mrkdwn import clean, escape, wordless
from bot.slack.views.blocks import stoppable
from crag_graph.phrases import Phrase

Link = Callable[[str, str, bool], Awaitable[str | None]]
"""The address of a one-time link to the review pages, for a person of a team whom Slack calls an admin or not; or None."""

ASK_HELP = Phrase(
    "`/crag-ask QUESTION` answers you alone, from your documents and, where they are not enough, from the web. "
    "Ask again with the same command to follow up; `/crag-forget` ends the conversation."
)
FORGET_HELP = Phrase(
    "`/crag-forget` forgets your last conversation with me in this place. "
    "`/crag-forget LINK` forgets the conversation that a link to one of its messages points at. "
    "`/crag-forget everything` forgets every conversation in which you asked me something, and erases all else that is "
    "stored of you."
)

NOTHING_HERE = Phrase("There is no conversation of yours here.")
FORGET_WHAT = Phrase("I do not know what to forget by “{text}”.")
UNKNOWN = Phrase("I do not know this command.")
NOT_YOURS = Phrase("You have asked nothing in that conversation, so it is not yours to forget.")


@dataclass(frozen=True, kw_only=True)
class Command:
    """A slash command as it was typed."""

    team: str
    channel: str
    user: str
    text: str
    response_url: str

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> "Command":
        return cls(
            team=body["team_id"],
            channel=body["channel_id"],
            user=body["user_id"],
            text=clean(body.get("text") or "").strip(),
            response_url=body.get("response_url") or "",
        )


async def on_ask(ack: AsyncAck, body: Mapping[str, Any], me: Me, taking: Taking) -> None:
    command = Command.read(body)
    if command.text.lower() in {"", "help"} or wordless(command.text):
        await ack(ASK_HELP())
        return
    message = private_message(command, me)
    await taking.take(message, response_url=command.response_url)
    shown = stoppable(words.WORKING(), message.ts)
    await ack(text=shown.text, blocks=list(shown.blocks))


def private_message(command: Command, me: Me) -> Message:
    """A command has no ts of its own; what a person asks privately in one place is one conversation."""
    return Message(
        team=me.team,
        channel=command.channel,
        ts=f"{time.time():.6f}",
        thread=f"{PRIVATE}{command.user}",
        user=command.user,
        text=command.text,
    )


async def on_forget(ack: AsyncAck, body: Mapping[str, Any], me: Me, inbox: Inbox, queue: Queue) -> None:
    command = Command.read(body)
    everything = command.text.lower() == "everything"
    conversations, refusal = ((), "") if everything else await _to_forget(command, me, inbox)
    if everything or conversations:
        wish = Wish(
            conversations=conversations,
            everything=everything,
            channel=command.channel,
            user=command.user,
            response_url=command.response_url,
        )
        await ask_to_forget(wish, me.team, inbox, queue)
    await ack(refusal or FORGETTING())


async def _to_forget(command: Command, me: Me, inbox: Inbox) -> tuple[tuple[str, ...], str]:
    """The conversations that are meant, or why there are none."""
    wanted = command.text.lower()
    if wanted in {"", "this", "conversation", "this conversation"}:
        latest = await inbox.latest_conversation(team=me.team, channel=command.channel, person=command.user)
        return ((latest,), "") if latest else ((), NOTHING_HERE())
    if conversation := conversation_of_link(command.text, me):
        meant = (conversation, private_conversation(conversation, command.user))
        mine = tuple([one for one in meant if await inbox.has_asked(one, command.user)])
        return mine, "" if mine else NOT_YOURS()
    asked = [] if wanted == "help" else [FORGET_WHAT(text=escape(command.text[:100]))]
    return (), " ".join([*asked, FORGET_HELP()])


def conversation_of_link(text: str, me: Me) -> str | None:
    """The conversation of a message's permalink in our team."""
    path, _, query = text.strip("<>").partition("?")
    parts = path.rsplit("/", 3)
    if len(parts) != 4 or parts[1] != "archives" or not (parts[3][:1] == "p" and parts[3][1:].isdigit()):  # noqa: PLR2004
        return None
    digits = parts[3][1:]
    fields = dict(field.partition("=")[::2] for field in query.replace("&amp;", "&").split("&"))
    root = fields.get("thread_ts") or f"{digits[:-6]}.{digits[-6:]}"
    return f"{me.team}:{parts[2]}:{root}"


async def on_traces(ack: AsyncAck, body: Mapping[str, Any], me: Me, directory: Directory, link: Link) -> None:
    command = Command.read(body)
    person = await directory.person(command.user)
    address = await link(me.team, command.user, person.admin)
    await ack(words.REVIEW(address=address) if address else words.NOT_ADMIN())


async def on_unknown_command(ack: AsyncAck) -> None:
    await ack(UNKNOWN())
