"""Forgets conversations when their person asks for it: queued, because one that is being answered is waited for."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.forgetting import Forgotten
from bot.inbox import Claim, Inbox, Item
from bot.jobs import Kind, Queue
from bot.slack.replies.home import Home
from bot.slack.replies.private import Private
from bot.slack.views.blocks import notice_reply
from bot.slack.web import Web

Forget = Callable[[str], Awaitable[Forgotten]]
"""Erases a conversation: what it remembers, and the texts of its traces."""

FORGETTING = "I am forgetting. You hear from me when it is done."


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is to be forgotten, and where to say that it is done."""

    conversations: tuple[str, ...]
    channel: str
    user: str
    response_url: str
    home: bool = False
    """It was wished on the home tab, and is told there."""


async def ask_to_forget(wish: Wish, team: str, inbox: Inbox, queue: Queue) -> None:
    """Raises InboxError or QueueError."""
    subject = f"forget:{team}:{wish.user}"
    payload = {"forget": {**vars(wish), "conversations": list(wish.conversations)}}
    item = Item(
        team=team,
        channel=wish.channel,
        ts=f"{time.time():.6f}",
        conversation=subject,
        person=wish.user,
        payload=payload,
    )
    await inbox.receive(item)
    await queue.put(Kind.ANSWER, subject)


@dataclass(frozen=True, kw_only=True)
class Forgetting:
    """Works off one wish."""

    web: Web
    inbox: Inbox
    forget: Forget
    home: Home

    async def work(self, claim: Claim) -> None:
        told: Mapping[str, Any] = claim.payload["forget"]
        erased = [await self._forget_one(conversation) for conversation in told["conversations"]]
        if told.get("home"):
            await self.home.show(told["user"], notice=_done(erased))
            return
        private = Private(web=self.web, response_url=told["response_url"], channel=told["channel"], user=told["user"])
        async with private:
            await private.finish(notice_reply(_done(erased)))

    async def _forget_one(self, conversation: str) -> Forgotten:
        await self.inbox.forget(conversation)  # what waits there is not answered any more
        return await self.forget(conversation)


def _done(erased: Sequence[Forgotten]) -> str:
    conversations = _count(len(erased), "conversation")
    traces = _count(sum(one.traces for one in erased), "answer")
    remembered = sum(one.remembered for one in erased)
    what = "What it remembered is gone" if remembered == len(erased) == 1 else "What was remembered is gone"
    return f"Forgotten: {conversations}. {what}, and so are the texts of {traces} in the log."


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
