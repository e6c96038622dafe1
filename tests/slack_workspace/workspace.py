"""A local Slack for tests: people and an app talk as they do at Slack, and it refuses what Slack refuses."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Protocol, Self, TypeVar

from tests.slack_workspace.calls import Logged
from tests.slack_workspace.clock import Clock
from tests.slack_workspace.compose import compose
from tests.slack_workspace.delivery import Delivery
from tests.slack_workspace.faults import Faults
from tests.slack_workspace.installation import App, Installation, Manifest
from tests.slack_workspace.message import Message
from tests.slack_workspace.person import Person
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.server import Server
from tests.slack_workspace.timing import Timing
from tests.slack_workspace.world import Account, Conversation, Kind, Post, Team

T = TypeVar("T")


class Member(Protocol):
    """Whoever can be in a conversation: a Person or an Account."""

    @property
    def id(self) -> str: ...


class SlackWorkspace:
    """One team with one app installed in it, on a port of the loopback; more of both on request."""

    team: Team
    app: App
    installation: Installation

    def __init__(
        self,
        *,
        manifest: Path | Manifest | None = None,
        timing: Timing | None = None,
        rate_limits: bool = False,
        patience: float = 10.0,
        port: int = 0,
        seed: int = 0,
    ) -> None:
        self.platform = Platform(timing=timing or Timing.quick(), rate_limits=rate_limits, random=Random(seed))  # noqa: S311 - which connection gets an envelope is no secret
        self._server = Server(self.platform)
        self._manifest = Manifest.read(manifest) if isinstance(manifest, Path) else manifest or Manifest()
        self._patience = patience
        self._port = port

    async def __aenter__(self) -> Self:
        self.platform.open(await self._server.start(self._port))
        self.team = self.platform.world.team("Acme")
        self.app = self.platform.register(self._manifest)
        self.installation = self.platform.install(self.app, self.team)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.platform.close()
        await self._server.stop()

    # What the app is told

    @property
    def api_url(self) -> str:
        return f"{self.platform.host}api/"

    @property
    def bot_token(self) -> str:
        return self.installation.token

    @property
    def app_token(self) -> str:
        return self.app.app_token

    @property
    def signing_secret(self) -> str:
        return self.app.signing_secret

    @property
    def bot(self) -> Account:
        return self.installation.bot

    def deliver_to(self, url: str) -> None:
        """Signed HTTP to this request URL from now on, instead of Socket Mode."""
        self.app.request_url = url

    # Who and what is here

    def user(self, name: str, *, team: Team | None = None, guest: bool = False, admin: bool = False) -> Person:
        account = self.platform.world.account(team or self.team, name, is_guest=guest, is_admin=admin)
        return Person(account=account, slack=self)

    def channel(
        self, name: str, *, members: Iterable[Member], private: bool = False, team: Team | None = None
    ) -> Conversation:
        kind = Kind.PRIVATE if private else Kind.CHANNEL
        return self.platform.world.conversation(team or self.team, name, kind, [member.id for member in members])

    def dm(self, person: Member) -> Conversation:
        return self.platform.world.direct(self.team, [self.bot.id, person.id])

    def group_dm(self, *people: Member) -> Conversation:
        return self.platform.world.direct(self.team, [self.bot.id, *(person.id for person in people)])

    # What happened

    def message(self, post: Post) -> Message:
        return Message(post=post, world=self.platform.world)

    def thread(self, message: Message) -> list[Message]:
        """The message's thread in order, its root first."""
        return [self.message(post) for post in message.channel.thread(message.root)]

    def replies(self, message: Message) -> list[Message]:
        """What bots posted in the message's thread after it."""
        return [reply for reply in self.thread(message) if reply.author.is_bot and reply.ts > message.ts]

    def calls(self, method: str | None = None) -> list[Logged]:
        return [call for call in self.platform.calls if method in {None, call.method}]

    @property
    def deliveries(self) -> list[Delivery]:
        return self.platform.couriers[self.app.id].deliveries

    # Waiting

    async def reply_to(
        self,
        message: Message,
        *,
        saying: str = "",
        until: Callable[[Message], bool] = lambda _: True,
        within: float | None = None,
    ) -> Message:
        """The first finished reply of a bot in the message's thread that says this and is as wanted."""

        def found() -> Message | None:
            for reply in self.replies(message):
                if reply.is_finished and saying in reply.screen and until(reply):
                    return reply
            return None

        return await self.until(found, within=within, what=lambda: self._seen(message))

    async def until(
        self, condition: Callable[[], T | None], *, within: float | None = None, what: Callable[[], str] = str
    ) -> T:
        return await self.platform.feed.until(condition, within=within or self._patience, what=what)

    async def connected(self, connections: int = 1) -> None:
        """Wait until the app has so many Socket Mode connections open."""
        sockets = self.platform.sockets[self.app.id]
        await self.until(lambda: len(sockets.connections) >= connections, what=lambda: "The app has not connected.")

    async def quiet(self, seconds: float = 0.3) -> None:
        """Nothing that a person could notice comes from an app for so long."""
        turn = self.platform.feed.turn
        await asyncio.sleep(seconds)
        if self.platform.feed.turn != turn:
            raise AssertionError(f"It was not quiet: {self.platform.calls[-3:]}")

    def typed(self, text: str, team: Team) -> str:
        world = self.platform.world
        places = [place for place in world.conversations.values() if place.team is team]
        return compose(text, accounts=world.people_of(team), channels=places)

    @property
    def clock(self) -> Clock:
        return self.platform.clock

    @property
    def faults(self) -> Faults:
        return self.platform.faults

    def _seen(self, message: Message) -> str:
        return "The thread:\n" + "\n".join(repr(m) for m in self.thread(message))
