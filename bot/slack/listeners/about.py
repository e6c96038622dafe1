"""The message shortcut that asks about a message: answered to whoever asks, with the message as context."""

import time
from collections.abc import Mapping
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack import words
from bot.slack.incoming import Me, Message
from bot.slack.listeners.keeping import Keeping, open_modal
from bot.slack.listeners.taking import Taking
from bot.slack.text.mrkdwn import wordless
from bot.slack.views.about import TITLE, Subject, about_view, asked_of


async def on_about(
    ack: AsyncAck, body: Mapping[str, Any], client: AsyncWebClient, respond: AsyncRespond, keeping: Keeping
) -> None:
    """Opens the modal; a trigger lives for three seconds."""
    message: Mapping[str, Any] = body["message"]
    subject = Subject(
        channel=body["channel"]["id"],
        thread=message.get("thread_ts") or message["ts"],
        ts=message["ts"],
    )
    text = await keeping.talk.text(message)
    await ack()
    await open_modal(client, respond, body, about_view(subject, text), name=TITLE.english)


async def on_about_asked(ack: AsyncAck, body: Mapping[str, Any], me: Me, taking: Taking) -> None:
    """Raises InboxError or QueueError: then the modal stays, and Slack says that it did not work."""
    subject, question = asked_of(body["view"])
    if wordless(question):
        await ack(response_action="errors", errors={"question": words.HINT()})
        return
    await taking.take(_message(subject, question, body["user"]["id"], me))
    await ack()


def _message(subject: Subject, question: str, user: str, me: Me) -> Message:
    """A message of the thread that nobody but its author sees; in direct messages there is nobody else."""
    return Message(
        team=me.team,
        channel=subject.channel,
        ts=f"{time.time():.6f}",
        thread=subject.thread,
        user=user,
        text=question,
        private=not subject.channel.startswith("D"),
    )
