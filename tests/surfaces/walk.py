"""Who is on the walk, where they are, and the few things that they do; nothing here knows a phrase of the bot's."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

from bot.slack.replies.pace import Pace
from crag_graph.services import Services
from tests.scenarios.slack.bot import Bot, Options, Stage
from tests.slack_workspace import Message, Person, SlackWorkspace
from tests.slack_workspace.block_ids import elements
from tests.slack_workspace.forms import label_of
from tests.slack_workspace.modal import Modal, Outcome
from tests.slack_workspace.screen import labels
from tests.slack_workspace.world import Conversation
from tests.surfaces.asked import ASKED, Asked
from tests.surfaces.gallery import Gallery


def unhurried() -> Pace:
    """Whether a quick answer is streamed is a matter of milliseconds: on this walk it is not."""
    return Pace(patience=60.0, again_after=0.3)


@dataclass(kw_only=True)
class Walk:
    """Ada asks, Bob is her colleague, Gus a guest, Root an admin. `language`: of their Slack and their questions."""

    slack: SlackWorkspace
    database_url: str
    folder: Path
    language: str = "en"
    gallery: Gallery = field(default_factory=Gallery)

    def __post_init__(self) -> None:
        locale = self.asked.locale
        self.ada = self.slack.user("Ada", locale=locale)
        self.bob = self.slack.user("Bob", locale=locale)
        self.gus = self.slack.user("Gus", locale=locale, guest=True)
        self.root = self.slack.user("Root", locale=locale, admin=True)
        self._places = 0

    @property
    def asked(self) -> Asked:
        return ASKED[self.language]

    def place(self, name: str) -> Conversation:
        """A channel of its own for each scene, with everybody in it."""
        return self.slack.channel(name, members=[self.ada, self.bob, self.gus, self.root, self.slack.bot])

    def stage(self, place: Conversation) -> Stage:
        return Stage(slack=self.slack, ada=self.ada, travel=place, database_url=self.database_url, folder=self.folder)

    def bot(self, services: Services, options: Options | None = None) -> AbstractAsyncContextManager[Bot]:
        """The bot with Root as its admin. Unless the `options` say otherwise, nothing is seen before an answer is there."""
        chosen = options or Options(http=True, pace=unhurried())
        chosen.admins |= {self.root.id}
        return self.stage(self.slack.dm(self.ada)).bot(services, chosen)

    async def mentions(self, text: str, *, in_: Conversation | Message, by: Person | None = None) -> Message:
        return await (by or self.ada).says(f"@bot {text}", in_=in_)

    async def asks(self, text: str, *, in_: Conversation | Message, by: Person | None = None) -> Message:
        """A mention with a question, and its finished answer."""
        return await self.slack.reply_to(await self.mentions(text, in_=in_, by=by))

    async def answer(self, question: Message, number: int) -> Message:
        """The so-manieth answer in the question's thread, with its buttons."""

        def found() -> Message | None:
            done = [one for one in self.slack.replies(question) if one.is_finished]
            return done[number - 1] if len(done) >= number and len(done[number - 1].buttons) > 1 else None

        return await self.slack.until(found)

    async def presses(self, action: str, *, on: Message | Modal, by: Person | None = None, side: int = 0) -> str:
        """Press the button of this action id; when that was."""
        since = self.slack.clock.ts()
        named = (element for _, element in elements(on.blocks) if element["action_id"] == action)
        label = labels(next(named))[side]
        outcome = await (by or self.ada).clicks(label, on=on)
        assert outcome.ok, outcome
        return since

    async def is_told(self, *, in_: Conversation, since: str, by: Person | None = None) -> Message:
        """The first thing that she is shown in the place, or by the bot in her direct messages, after that."""
        return await (by or self.ada).is_shown(in_=in_, since=since)

    async def is_also_told(self, said: Message, *, since: str, by: Person | None = None) -> Message:
        """What she alone is shown beside the first thing, in whatever order they come."""
        person = (by or self.ada).id

        def found() -> Message | None:
            shown = (self.slack.message(post) for post in said.channel.shown if post.only_for == person)
            return next((one for one in shown if one.ts > since and one.ts != said.ts), None)

        return await self.slack.until(found)

    async def runs(self, line: str, *, in_: Conversation, by: Person | None = None) -> Message:
        return await (by or self.ada).runs(line, in_=in_)

    async def opens(self, by: Person | None = None) -> Modal:
        return await (by or self.ada).sees_modal()

    async def submits(self, modal: Modal, values: dict[str, object], by: Person | None = None) -> Outcome:
        """Fill in by block id: labels are the bot's words. A number or a list of numbers chooses options by place."""
        return await (by or self.ada).submits(
            modal, {self._label(modal, n): self._value(modal, n, values[n]) for n in values}
        )

    async def settles(self) -> None:
        """Wait until nothing happens any more."""
        feed, turn = self.slack.platform.feed, -1
        while turn != feed.turn:
            turn = feed.turn
            await asyncio.sleep(0.4)

    @staticmethod
    def _field(modal: Modal, name: str) -> tuple[dict[str, object], dict[str, object]]:
        block = next(one for one in modal.blocks if str(one["block_id"]).partition("-")[0] == name)
        return block, block["element"]

    def _label(self, modal: Modal, name: str) -> str:
        return label_of(*self._field(modal, name))

    def _value(self, modal: Modal, name: str, value: object) -> object:
        options = self._field(modal, name)[1].get("options")
        if not isinstance(options, list):
            return value
        texts = [option["text"]["text"] for option in options]
        return [texts[one] for one in value] if isinstance(value, Sequence) else texts[int(str(value))]
