"""Hands on what one person has: a private answer to everybody in its place, an unanswered question to people."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.channels.store import Channels
from bot.inbox import Claim, Inbox
from bot.slack import words
from bot.slack.directory import Directory
from bot.slack.incoming import Me, Message
from bot.slack.replies.presses import pressed
from bot.slack.replies.thread import thread_of
from bot.slack.views.blocks import Post, posts
from bot.slack.views.offers import Offer
from bot.slack.views.relay import call_post, shared_reply
from bot.slack.web import Web
from bot.traces.reading import Row, find_run

HANDS_ON = frozenset({Offer.SHARE, Offer.PERSON})


@dataclass(frozen=True, kw_only=True)
class Relay:
    """What is handed on is posted once, whatever happens in between."""

    me: Me
    web: Web
    inbox: Inbox
    engine: AsyncEngine
    channels: Channels
    directory: Directory

    @staticmethod
    def takes(claim: Claim) -> bool:
        press = pressed(claim)
        return press is not None and press[0] in HANDS_ON

    async def work(self, claim: Claim, message: Message) -> list[str]:
        """The ts of what was posted; nothing where the answer was forgotten meanwhile. Raises SlackError."""
        offer, trace = pressed(claim) or (Offer.SHARE, "")
        run = await find_run(self.engine, trace, team=message.team)
        made = await self._made(offer, run) if run else ()
        thread = thread_of(claim, message, web=self.web, me=self.me)
        placed = dict(enumerate(claim.replies))
        if claim.attempt > 1:
            placed = await thread.find() | placed
        for part, post in enumerate(made):
            if part not in placed:
                placed[part] = await thread.post(post, part)
                await self.inbox.posted(claim, [placed[done] for done in sorted(placed)])
        return [placed[part] for part in sorted(placed)]

    async def _made(self, offer: Offer, run: Row) -> tuple[Post, ...]:
        if offer is Offer.SHARE:
            names = await self.directory.names([run["asker"]])
            return posts(shared_reply(run, names.get(run["asker"], words.SOMEBODY())))
        settings = await self.channels.of(run["team"], run["channel"])
        if not settings.calls_people:
            return ()
        return (call_post(run, settings.callable_people, settings.callable_groups),)
