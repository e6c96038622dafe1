"""The jobs of the queue: each item that waits is handed to what is ours in its team."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from bot.inbox import Claim, Inbox
from bot.slack.replies.presses import language_of
from bot.slack.teams import Team, Teams
from crag_graph.phrases import speak

log = structlog.get_logger()

Handle = Callable[[Team, Claim], Awaitable[bool]]
"""True where another item waits, or may wait."""


@dataclass(frozen=True, kw_only=True)
class Working:
    teams: Teams
    inbox: Inbox

    async def answer(self, conversation: str) -> None:
        """Whatever waits in a conversation, oldest first."""
        await self._work(conversation, lambda team, claim: team.answers.handle(claim))

    async def ingest(self, subject: str) -> None:
        """Whatever is to be done for a source, oldest first."""
        await self._work(subject, lambda team, claim: team.ingesting.handle(claim))

    async def _work(self, subject: str, handle: Handle) -> None:
        while claim := await self.inbox.claim(subject):
            team = await self._team(claim)
            if team is None:
                log.warning("item_dropped", team=claim.team, reason="the app is not installed there")
            if not await (_handled(team, claim, handle) if team else self.inbox.done(claim)):
                return

    async def _team(self, claim: Claim) -> Team | None:
        """What did not work before is not tried for ever: first we ask whether we still are there."""
        return await (self.teams.of(claim.team) if claim.attempt == 1 else self.teams.check(claim.team))


async def _handled(team: Team, claim: Claim, handle: Handle) -> bool:
    """In the language of what was asked, or of whoever waits for it."""
    person = claim.person or claim.payload.get("forget", {}).get("user", "")
    said = claim.payload.get("message", {}).get("text", "")
    speak(language_of(claim) or await team.directory.language(person, said))
    return await handle(team, claim)
