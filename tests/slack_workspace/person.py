"""A person at this Slack: what she says, presses, runs and opens, and what she is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.slack_workspace import events, gestures, payloads, posting, shapes
from tests.slack_workspace.installation import Installation
from tests.slack_workspace.message import Message
from tests.slack_workspace.modal import Modal, Outcome
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Account, Conversation, Json, StoredFile

if TYPE_CHECKING:
    from tests.slack_workspace.workspace import SlackWorkspace


@dataclass(frozen=True, kw_only=True)
class Person:
    account: Account
    slack: "SlackWorkspace"

    @property
    def id(self) -> str:
        return self.account.id

    @property
    def name(self) -> str:
        return self.account.name

    @property
    def dm(self) -> Conversation:
        """Her direct messages with the bot."""
        return self.slack.dm(self)

    @property
    def installation(self) -> Installation:
        """The app in her team; where it is not, in the first one."""
        mine = (one for one in self._platform.installations if one.team is self.account.team)
        return next((one for one in mine if one.app is self.slack.app), self.slack.installation)

    # Talking

    async def says(
        self,
        text: str,
        *,
        in_: Conversation | Message,
        files: Sequence[StoredFile] = (),
        also_to_channel: bool = False,
        as_typed: bool = True,
    ) -> Message:
        """Post a message; `in_` a message means in its thread. `as_typed=False` takes the text as Slack's markup."""
        place = in_.channel if isinstance(in_, Message) else in_
        if not place.has(self.id) or place.archived:
            raise AssertionError(f"{self.name} cannot write in {place.name}")
        for file in files:
            file.channels.append(place.id)
        post = posting.post(
            self._platform,
            place,
            self.account,
            self.slack.typed(text, self.account.team) if as_typed else text,
            thread_ts=in_.root if isinstance(in_, Message) else None,
            subtype="thread_broadcast" if also_to_channel else "file_share" if files else None,
            broadcast=also_to_channel,
            files=list(files),
        )
        return self.slack.message(post)

    async def edits(self, message: Message, text: str) -> None:
        posting.change(self._platform, message.post, text=self.slack.typed(text, self.account.team))

    async def deletes(self, message: Message) -> None:
        posting.delete(self._platform, message.post)

    def file(self, name: str, content: bytes, mimetype: str = "text/plain") -> StoredFile:
        """A file of hers, to be shared with a message."""
        return self.slack.file(name, content, author=self, mimetype=mimetype)

    # Pressing

    async def clicks(self, label: str, *, on: Message | Modal) -> Outcome:
        """Press the button with this label, on a message, in a modal or on the home tab."""
        blocks = on.blocks
        return await self._act(on, gestures.button(blocks, label))

    async def chooses(self, option: str, *, on: Message | Modal) -> Outcome:
        """Choose an option of a menu that acts at once."""
        return await self._act(on, gestures.choice(on.blocks, option))

    async def submits(self, modal: Modal, values: Mapping[str, Any] | None = None) -> Outcome:
        """Fill the modal in (by label; texts, option labels, people, channels) and submit it."""
        return await gestures.submit(self._platform, modal.view, dict(values or {}))

    async def closes(self, modal: Modal) -> None:
        await gestures.close(self._platform, modal.view)

    async def uses_shortcut(self, name: str, *, on: Message | None = None) -> Outcome:
        """A message shortcut, or without `on` a global one, by the name that the manifest gives it."""
        installation = self.installation
        callback_id = installation.app.manifest.shortcuts.get(name, name)
        kind = "message_action" if on else "shortcut"
        payload = payloads.interaction(self._platform, installation, self.account, kind)
        payload |= {"callback_id": callback_id, "action_ts": self._platform.clock.ts()}
        if on:
            where = payloads.on_message(self._platform, installation, self.account, on.post)
            payload |= {"channel": where["channel"], "response_url": where["response_url"]}
            payload |= {"message_ts": on.ts, "message": shapes.message(on.post, host=self._platform.host)}
        return await gestures.press(self._platform, installation, payload)

    # Commands

    async def runs(self, line: str, *, in_: Conversation, saying: str = "", within: float | None = None) -> Message:
        """Run a slash command; the first thing that she is shown after it (and that says this)."""
        since = self._platform.clock.ts()
        shown = await gestures.run(self._platform, self.installation, self.account, in_, line)
        if shown and saying in self.slack.message(shown).screen:
            return self.slack.message(shown)
        return await self.is_shown(saying, in_=in_, since=since, within=within)

    async def opens(self, line: str, *, in_: Conversation, title: str = "") -> Modal:
        """Run a slash command that opens a modal (of this title) and says nothing; what stands open before her."""
        if shown := await gestures.run(self._platform, self.slack.installation, self.account, in_, line):
            raise AssertionError(f"{line} opened nothing, but said {self.slack.message(shown).screen!r}")
        return await self.sees_modal(title)

    async def is_shown(
        self, saying: str = "", *, in_: Conversation, since: str = "", within: float | None = None
    ) -> Message:
        """Something for her alone, or from a bot at the top of the conversation."""

        def found() -> Message | None:
            private = [post for post in in_.shown if post.only_for == self.id]
            public = [post for post in in_.posts.values() if post.author.is_bot and post.root == post.ts]
            for post in sorted(private + public, key=lambda post: post.ts):
                if post.ts > since and saying in self.slack.message(post).screen:
                    return self.slack.message(post)
            return None

        return await self.slack.until(found, within=within, what=lambda: f"{self.name} was shown {in_.shown[-3:]}")

    # Looking

    async def sees_modal(self, title: str = "", *, within: float | None = None) -> Modal:
        """The modal that stands open before her."""

        def found() -> Modal | None:
            stack = self._platform.views.stack_of(self.account)
            modal = Modal(view=stack[-1], world=self._platform.world) if stack else None
            return modal if modal and title in modal.title else None

        return await self.slack.until(found, within=within, what=lambda: f"No modal {title!r} opened.")

    async def opens_home(self, *, within: float | None = None) -> Modal:
        """Open the app's home tab; what it shows once the app has published it."""
        before = self._home_version()
        self._tell(events.home_opened(self.account, self.dm, tab="home", at=self._platform.clock.ts()))
        await self.slack.until(
            lambda: self._home_version() > before, within=within, what=lambda: "The home tab was not published."
        )
        return self.home

    @property
    def home(self) -> Modal:
        return Modal(
            view=self._platform.views.homes[self.slack.app.id, self.id],
            world=self._platform.world,
        )

    async def opens_messages_tab(self, *, looking_at: Conversation | None = None) -> None:
        """Open the app's Messages tab; suggested prompts are `slack.prompts(person.dm)`."""
        opened = events.home_opened(self.account, self.dm, tab="messages", at=self._platform.clock.ts())
        self._tell(opened | events.context(looking_at, self.account))

    async def looks_at(self, place: Conversation) -> None:
        """Turn to a conversation while the app stands open beside it."""
        at = self._platform.clock.ts()
        event = {"type": "app_context_changed", "user": self.id, "channel": self.dm.id, "event_ts": at}
        self._tell(event | events.context(place, self.account))

    async def stops(self, message: Message) -> None:
        """Press Slack's own Stop button in the message's thread: streams end, and the app is told."""
        streams = [post for post in message.channel.thread(message.root) if post.stream and not post.stream.ended]
        for post in streams:
            if post.stream:
                post.stream.ended = "stopped_by_user"
        self._tell(
            {
                "type": "agent_session_stopped",
                "channel": message.channel.id,
                "thread_ts": message.root,
                "user": self.id,
                "streaming_message_ts": [post.ts for post in streams],
                "event_ts": self._platform.clock.ts(),
            }
        )

    @property
    def _platform(self) -> Platform:
        return self.slack.platform

    def _home_version(self) -> int:
        home = self._platform.views.homes.get((self.slack.app.id, self.id))
        return home.versions if home else 0

    def _tell(self, event: Json) -> None:
        """An event that only the app itself gets."""
        if events.hears(self.installation, event["type"]):
            self._platform.raise_event(self.installation, event)

    async def _act(self, on: Message | Modal, pressed: tuple[str, Json, Json]) -> Outcome:
        installation = self._owner(on)
        block_id, element, chosen = pressed
        payload = payloads.interaction(self._platform, installation, self.account, "block_actions")
        if isinstance(on, Message):
            payload |= payloads.on_message(self._platform, installation, self.account, on.post)
        else:
            payload |= payloads.on_view(on.view, {})
        at = self._platform.clock.ts()
        payload["actions"] = [payloads.action(element, block_id, at=at, **chosen)]
        return await gestures.press(self._platform, installation, payload)

    def _owner(self, on: Message | Modal) -> Installation:
        if isinstance(on, Modal):
            return on.view.installation
        return next(i for i in self._platform.installations if i.bot is on.author)
