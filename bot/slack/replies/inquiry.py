"""Makes of what was asked a question with all that it may use: what people said before, the spaces that it may see."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.channels.settings import ChannelSettings, WebUse
from bot.inbox import Claim, Inbox
from bot.questions import Question
from bot.slack.access import Access, access
from bot.slack.directory import Directory
from bot.slack.incoming import Me, Message
from bot.slack.replies.asked import Asked
from bot.slack.replies.chatter import Chatter
from bot.slack.views.attached import Reading
from bot.slack.web import Web
from crag_graph.domain import Progress
from crag_graph.knowledge.attached import Attached
from crag_graph.models.gist import asks_for_gist

Show = Callable[[Progress], Awaitable[None]]


class Reader(Protocol):
    """Whoever reads the files that came with a question."""

    async def read(self, claim: Claim, files: Sequence[tuple[str, str]], show: Show) -> Reading: ...


@dataclass(frozen=True, kw_only=True)
class Inquiry:
    me: Me
    web: Web
    inbox: Inbox
    directory: Directory
    attached: Attached

    async def question(self, asked: Asked, message: Message, settings: ChannelSettings) -> Question:
        """Files that came with the question are asked alone; those that came before it, beside the library."""
        allowed, talk, files = await asyncio.gather(
            self._access(message, settings),
            Chatter(self.web, self.me, self.directory, self.inbox).before(message),
            self._files(asked, message),
        )
        gist = bool(files) and asks_for_gist(asked.text, files)
        alone = bool(files) and (bool(asked.files) or asked.of_files or gist)
        here = (message.conversation,) if files else ()
        return Question(
            text=asked.text,
            conversation=message.conversation,
            spaces=here if alone else (*allowed.spaces, *here),
            elsewhere=() if alone else allowed.elsewhere,
            files_alone=alone,
            gist=gist,
            chatter=talk.lines,
            heard=talk.people,
            web_allowed=settings.web is not WebUse.OFF,
            web_wanted=_wanted(asked, settings, alone=alone),
            retakes=asked.retakes,
            team=message.team,
            channel=message.channel,
            asker=message.user,
            permalink=asked.permalink,
        )

    async def _files(self, asked: Asked, message: Message) -> list[str]:
        """The names of what came with the conversation; a message that begins one without a file has none."""
        if not (asked.files or message.is_reply):
            return []
        return [document.title for document in await self.attached.documents(message.conversation)]

    async def _access(self, message: Message, settings: ChannelSettings) -> Access:
        place, person, channels = await asyncio.gather(
            self.directory.place(message.channel),
            self.directory.person(message.user),
            self.directory.channels_of(message.user),
        )
        return access(me=self.me, place=place, person=person, channels=channels, workspace=settings.workspace)


def _wanted(asked: Asked, settings: ChannelSettings, *, alone: bool) -> bool | None:
    """What the asker wished of the web; who wished nothing gets files alone, and where it is asked last, the library."""
    first = False if alone or settings.web is WebUse.ASK else None
    return first if asked.web_wanted is None else asked.web_wanted
