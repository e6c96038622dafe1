"""Takes a question in: stored and queued, before Slack is told that it was taken."""

import asyncio
from collections import OrderedDict
from dataclasses import asdict
from typing import Any
from weakref import WeakValueDictionary

from bot.inbox import Inbox, Item
from bot.jobs import Kind, Queue
from bot.slack.incoming import Message

REMEMBERED = 1_000


class Taking:
    """A mention raises two events, and Slack repeats itself: what this process has just taken costs nothing again."""

    def __init__(self, inbox: Inbox, queue: Queue) -> None:
        self._inbox = inbox
        self._queue = queue
        self._orders: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._taken: OrderedDict[tuple[str, str, str], asyncio.Future[None]] = OrderedDict()

    def in_order(self, conversation: str) -> asyncio.Lock:
        """Held while a message is taken in, it keeps those that come after it in the conversation behind it."""
        order = self._orders.get(conversation)
        if order is None:
            order = self._orders[conversation] = asyncio.Lock()
        return order

    async def take(self, message: Message, **payload: Any) -> None:
        """Raises InboxError or QueueError: then nothing is acknowledged, and Slack sends it again."""
        key = (message.team, message.channel, message.ts)
        taking = self._taken.get(key)
        if taking is None:
            taking = self._taken[key] = asyncio.ensure_future(self._store(message, payload))
        try:
            await asyncio.shield(taking)
        except Exception:
            self._taken.pop(key, None)
            raise
        if len(self._taken) > REMEMBERED:
            self._taken.popitem(last=False)

    async def put(self, item: Item) -> bool:
        """Stored and queued once, however often it comes; False where it is done already. Raises as `take`."""
        waits = await self._inbox.receive(item)
        if waits:
            await self._queue.put(Kind.ANSWER, item.conversation)
        return waits

    async def _store(self, message: Message, payload: dict[str, Any]) -> None:
        await self.put(
            Item(
                team=message.team,
                channel=message.channel,
                ts=message.ts,
                conversation=message.conversation,
                person=message.user,
                payload={"message": asdict(message), **payload},
                event_id=message.event_id,
                by_bot=message.from_bot,
            )
        )
