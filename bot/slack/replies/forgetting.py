"""Forgets conversations when their person asks for it: queued, because one that is being answered is waited for."""

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bot.erasing.eraser import Erased
from bot.forgetting import Forgotten
from bot.inbox import Claim, Inbox, Item
from bot.jobs import Kind, Queue
from bot.slack.replies.home import Home
from bot.slack.replies.private import Private
from bot.slack.views.blocks import notice_reply
from bot.slack.web import Web
from crag_graph.phrases import Phrase

Forget = Callable[[str], Awaitable[Forgotten]]
"""Erases a conversation: what it remembers, and the texts of its traces."""


class EraseEverything(Protocol):
    """Erases what a person asked, said and did in a team."""

    async def __call__(self, person: str, *, team: str) -> Erased: ...


FORGETTING = Phrase("I am forgetting. You hear from me when it is done.")
EVERYTHING = Phrase(
    "Forgotten, everything that was stored of you here ({told}). Documents that others can find stay, without your name."
)
NOTHING = Phrase("There was nothing stored of you here.")
ONE_GONE = Phrase("What I remembered of it is gone, and so are the texts of its answers in the log.")
GONE = Phrase("What I remembered of them is gone, and so are the texts of their answers in the log.")
FORGOTTEN = Phrase("Forgotten. Conversations: {conversations}. Answers: {answers}.")
FILES_TOO = Phrase("Files that came with questions, and were not kept in the library, are gone, too: {files}.")


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is to be forgotten, and where to say that it is done. `everything`: all that is stored of the person."""

    conversations: tuple[str, ...] = ()
    everything: bool = False
    channel: str
    user: str
    response_url: str
    home: bool = False
    """It was wished on the home tab, and is told there."""


async def ask_to_forget(wish: Wish, team: str, inbox: Inbox, queue: Queue) -> None:
    """Raises InboxError or QueueError."""
    # Nobody's id: the subject stands in the queue until all is erased.
    subject = f"forget:{team}:{secrets.token_hex(8)}"
    payload = {"forget": {**vars(wish), "conversations": list(wish.conversations)}}
    item = Item(
        team=team,
        channel=wish.channel,
        ts=f"{time.time():.6f}",
        conversation=subject,
        person="",
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
    erase: EraseEverything

    async def work(self, claim: Claim) -> None:
        told: Mapping[str, Any] = claim.payload["forget"]
        done = await self._forget(claim.team, told)
        if told.get("home"):
            await self.home.show(told["user"], notice=done)
            return
        private = Private(web=self.web, response_url=told["response_url"], channel=told["channel"], user=told["user"])
        async with private:
            await private.finish(notice_reply(done))

    async def _forget(self, team: str, told: Mapping[str, Any]) -> str:
        """What to say of it."""
        if told.get("everything"):
            return _erased(await self.erase(told["user"], team=team))
        return _done([await self._forget_one(conversation) for conversation in told["conversations"]])

    async def _forget_one(self, conversation: str) -> Forgotten:
        await self.inbox.forget(conversation)  # what waits there is not answered any more
        return await self.forget(conversation)


def _done(forgotten: Sequence[Forgotten]) -> str:
    answers = sum(one.traces for one in forgotten)
    files = sum(one.files for one in forgotten)
    told = [
        FORGOTTEN(conversations=len(forgotten), answers=answers),
        ONE_GONE() if len(forgotten) == 1 else GONE(),
        *([FILES_TOO(files=files)] if files else []),
    ]
    return " ".join(told)


def _erased(erased: Erased) -> str:
    told = ", ".join(f"{kind}: {number}" for kind, number in erased.counts.items())
    return EVERYTHING(told=told) if told else NOTHING()
