"""A tiny terminal for the local Slack: you type as a person and see what the bot shows her."""

import asyncio
import mimetypes
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from tests.slack_workspace.message import Message
from tests.slack_workspace.modal import Modal, Outcome
from tests.slack_workspace.watching import Watcher
from tests.slack_workspace.workspace import SlackWorkspace
from tests.slack_workspace.world import Conversation

HELP = """\
What you type is said where you are; in a channel the bot answers to @bot.
  /command …      run a slash command (not in a thread)
  :go NAME        go to a channel; :dm to your direct messages with the bot
  :thread, :top   answer in the last message's thread; leave it
  :as NAME        be somebody else (who joins the channel you are in)
  :file PATH …    share a file, with a text
  :click LABEL    press a button, on the last message that has it or in the open modal
  :submit A=B …   fill the open modal in and submit it
  :home           open the bot's home tab
  :wait           wait for the bot's answer to what you said last
  :help, :quit
"""


class Console:
    """Reads lines, does what they say, shows what comes of it."""

    def __init__(self, slack: SlackWorkspace, show: Callable[[str], None], *, patience: float = 60.0) -> None:
        self._slack = slack
        self._show = show
        self._patience = patience
        self._person = slack.user("Ada", admin=True)
        self._places = {"general": slack.channel("general", members=[self._person, slack.bot])}
        self._people = {"ada": self._person}
        self._place: Conversation = self._places["general"]
        self._thread: Message | None = None
        self._said: Message | None = None
        self._commands: dict[str, Callable[[str], Awaitable[None]]] = {
            "go": self._go,
            "dm": self._dm,
            "thread": self._enter_thread,
            "top": self._leave_thread,
            "as": self._become,
            "file": self._share,
            "click": self._click,
            "submit": self._submit,
            "home": self._home,
            "wait": self._wait,
            "help": self._help,
        }

    @property
    def prompt(self) -> str:
        """Who you are and where."""
        place = f"#{self._place.name}" if self._place.name else "direct messages"
        return f"{self._person.name} in {place}{' (thread)' if self._thread else ''}> "

    async def run(self, lines: AsyncIterator[str]) -> None:
        """Until the lines end or `:quit`."""
        watcher = Watcher(self._slack, self._show)
        watching = asyncio.create_task(watcher.run())
        try:
            async for line in lines:
                if line.strip() == ":quit":
                    return
                if line.strip():
                    await self._do(line.strip())
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            watcher.look()

    async def _do(self, line: str) -> None:
        try:
            if line.startswith(":"):
                name, _, rest = line[1:].partition(" ")
                await self._commands.get(name, self._help)(rest.strip())
            elif line.startswith("/"):
                await self._person.runs(line, in_=self._place, within=self._patience)
            else:
                self._said = await self._person.says(line, in_=self._thread or self._place)
        except (AssertionError, OSError, KeyError, ValueError) as refusal:
            self._show(f"! {refusal}")

    async def _go(self, name: str) -> None:
        name = name.lstrip("#")
        if name not in self._places:
            self._places[name] = self._slack.channel(name, members=[self._person, self._slack.bot])
        self._place, self._thread = self._places[name], None
        self._join()

    async def _dm(self, _: str) -> None:
        self._place, self._thread = self._person.dm, None
        await self._person.opens_messages_tab()

    async def _enter_thread(self, _: str) -> None:
        self._thread = self._said

    async def _leave_thread(self, _: str) -> None:
        self._thread = None

    async def _become(self, name: str) -> None:
        self._people.setdefault(name.lower(), self._slack.user(name))
        self._person = self._people[name.lower()]
        if not self._place.name:
            await self._dm("")
        self._join()

    async def _share(self, rest: str) -> None:
        path, *words = shlex.split(rest)
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        content = await asyncio.to_thread(Path(path).read_bytes)
        file = self._person.file(Path(path).name, content, kind)
        self._said = await self._person.says(" ".join(words), in_=self._thread or self._place, files=[file])

    async def _click(self, label: str) -> None:
        modals = self._slack.platform.views.stack_of(self._person.account)
        if modals and label in (modal := Modal(view=modals[-1], world=self._slack.platform.world)).buttons:
            self._tell(await self._person.clicks(label, on=modal))
            return
        shown = [self._slack.message(post) for post in self._place.shown if not post.deleted]
        for message in sorted(self._slack.messages(self._place) + shown, key=lambda m: m.ts, reverse=True):
            if label in message.buttons:
                self._tell(await self._person.clicks(label, on=message))
                return
        self._show(f"! There is no button {label!r} here.")

    async def _submit(self, rest: str) -> None:
        modal = await self._person.sees_modal(within=1.0)
        values = dict(pair.split("=", 1) for pair in shlex.split(rest))
        self._tell(await self._person.submits(modal, values))

    async def _home(self, _: str) -> None:
        await self._person.opens_home(within=self._patience)

    async def _wait(self, _: str) -> None:
        if self._said:
            await self._slack.reply_to(self._said, within=self._patience)

    async def _help(self, _: str) -> None:
        self._show(HELP)

    def _join(self) -> None:
        if self._place.name and not self._place.has(self._person.id):
            self._slack.admin.adds(self._person, to=self._place)

    def _tell(self, outcome: Outcome) -> None:
        for problem in [outcome.error, *(f"{k}: {v}" for k, v in (outcome.errors or {}).items())]:
            if problem:
                self._show(f"! {problem}")
