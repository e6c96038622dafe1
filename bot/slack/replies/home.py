"""Shows the home tab of a person: what the library holds where they are, and what they asked."""

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.experts.answers import LOADER
from bot.slack import words
from bot.slack.access import is_member, space_of
from bot.slack.directory import Directory, known_names
from bot.slack.incoming import Me
from bot.slack.views.home import (
    DIRECT,
    MOST_CONVERSATIONS,
    MOST_FAILURES,
    MOST_SPACES,
    UNNAMED,
    Asked,
    Failed,
    Shown,
    home_view,
)
from bot.slack.web import Web, heard
from bot.traces.conversations import RecentConversation, recent_conversations
from crag_graph.knowledge.overview import Failure, SpaceCounts, Topic, count_spaces, failures, topics

MOST_TOPICS = 3


@dataclass(frozen=True, kw_only=True)
class Home:
    """What the app's own tabs show to a person. Nothing of a space that the person may not see gets into them."""

    me: Me
    web: Web
    engine: AsyncEngine
    directory: Directory

    async def show(self, user: str, *, notice: str = "", without: Collection[str] = ()) -> None:
        """Publishes the home tab. `without`: conversations that are being forgotten. Raises SlackError."""
        spaces = await self._spaces(user)
        counts, failed, asked = await asyncio.gather(
            count_spaces(self.engine, spaces),
            failures(self.engine, spaces, most=MOST_FAILURES),
            recent_conversations(self.engine, team=self.me.team, person=user, most=MOST_CONVERSATIONS + len(without)),
        )
        kept = [one for one in asked if one.conversation not in without]
        names = await self._names(counts[:MOST_SPACES], failed, kept)
        view = home_view(
            [self._shown(one, names) for one in counts],
            [Failed(name=self._name(one.space, names), title=one.title, problem=one.problem) for one in failed],
            [self._asked(one, names) for one in kept],
            may_settle=is_member(self.me.team, await self.directory.person(user)),
            notice=notice,
        )
        await heard(self.web.hasty.views_publish(user_id=user, view=view))

    async def topics(self, user: str, channel: str) -> tuple[Topic, ...]:
        """What the person can ask about in their direct messages with us."""
        member = is_member(self.me.team, await self.directory.person(user))
        spaces = [space_of(self.me.team, channel), *([self.me.everybody] if member else [])]
        return await topics(self.engine, spaces, most=MOST_TOPICS, without=(LOADER,))

    async def _spaces(self, user: str) -> list[str]:
        person, channels = await asyncio.gather(self.directory.person(user), self.directory.channels_of(user))
        everybody = [self.me.everybody] if is_member(self.me.team, person) else []
        return [*everybody, *(space_of(self.me.team, channel) for channel in channels)]

    async def _names(
        self, counts: Iterable[SpaceCounts], failed: Iterable[Failure], asked: Iterable[RecentConversation]
    ) -> dict[str, str]:
        spaces = {one.space for one in counts} | {one.space for one in failed}
        spaces.discard(self.me.everybody)
        channels = {self._channel(space) for space in spaces} | {one.channel for one in asked}
        return await known_names(self.directory, (), channels)

    def _channel(self, space: str) -> str:
        return space.removeprefix(f"{self.me.team}:")

    def _name(self, space: str, names: dict[str, str]) -> str:
        return words.EVERYBODY() if space == self.me.everybody else _called(self._channel(space), names)

    def _shown(self, one: SpaceCounts, names: dict[str, str]) -> Shown:
        name = self._name(one.space, names)
        return Shown(name=name, documents=one.documents, failed=one.failed, added_at=one.added_at)

    def _asked(self, one: RecentConversation, names: dict[str, str]) -> Asked:
        return Asked(
            conversation=one.conversation,
            name=_called(one.channel, names),
            question=one.question,
            address=one.permalink,
            asked_at=one.asked_at,
        )


def _called(channel: str, names: dict[str, str]) -> str:
    if name := names.get(channel):
        return f"#{name}"
    return DIRECT() if channel.startswith("D") else UNNAMED()
