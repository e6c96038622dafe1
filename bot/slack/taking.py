"""Takes a question in: stored and queued, before Slack is told that it was taken."""

from dataclasses import asdict
from typing import Any

from bot.inbox import Inbox, Item
from bot.jobs import Kind, Queue
from bot.slack.incoming import Message


async def take(message: Message, inbox: Inbox, queue: Queue, **payload: Any) -> None:
    """Stores the message and queues the work. Raises InboxError or QueueError: then Slack sends it again."""
    item = Item(
        team=message.team,
        channel=message.channel,
        ts=message.ts,
        conversation=message.conversation,
        person=message.user,
        payload={"message": asdict(message), **payload},
        event_id=message.event_id,
        by_bot=message.from_bot,
    )
    if await inbox.receive(item):
        await queue.put(Kind.ANSWER, message.conversation)
