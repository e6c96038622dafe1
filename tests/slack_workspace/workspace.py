"""A local Slack for tests: people and an app talk as they do at Slack, and it refuses what Slack refuses."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self, TypeVar

from tests.slack_workspace.admin import Admin, Member
from tests.slack_workspace.calls import Logged
from tests.slack_workspace.clock import Clock
from tests.slack_workspace.compose import compose
from tests.slack_workspace.delivery import Delivery
from tests.slack_workspace.faults import Faults
from tests.slack_workspace.installation import App, Installation, Manifest
from tests.slack_workspace.message import Message
from tests.slack_workspace.network import Network
from tests.slack_workspace.person import Person
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.server import Server
from tests.slack_workspace.sessions import Session
from tests.slack_workspace.timing import Timing
from tests.slack_workspace.world import SLACKBOT, Account, Conversation, Group, Kind, Post, StoredFile, Team

T = TypeVar("T")


class SlackWorkspace:
    """One team with one app installed in it, on a port of the loopback; more of both on request."""

    def __init__(
        self,
        *,
        manifest: Path | Manifest | None = None,
        timing: Timing | None = None,
        rate_limits: bool = False,
        patience: float = 10.0,
        finished: Callable[[Message], bool] = lambda _: True,
        port: int = 0,
        seed: int = 0,
    ) -> None:
        """`manifest` names scopes, events and commands; `patience`: seconds that any waiting takes at most;
        `finished`: what tells an app's answer from its sign of work, beyond not being streamed any more."""
        random = Random(seed)  # noqa: S311 - which connection gets an envelope is no secret
        self.platform = Platform(timing=timing or Timing.quick(), rate_limits=rate_limits, random=random)
        read = Manifest.read(manifest) if isinstance(manifest, Path) else manifest or Manifest()
        self.team: Team = self.platform.world.team("Acme")
        self.app: App = self.platform.register(read)
        self.installation: Installation = self.platform.install(self.app, self.team)
        self.admin = Admin(self.platform, self.installation)
        self.network = Network(self.platform, self.app)
        self._server = Server(self.platform)
        self._patience = patience
        self._finished = finished
        self._port = port

    async def __aenter__(self) -> Self:
        self.platform.open(await self._server.start(self._port))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.platform.close()
        await self._server.stop()

    # What the app's settings need

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

    def at_the_browser(self, person: Person | None) -> None:
        """Who signs in from now on where an app sends its browser here; nobody: who is there says no."""
        self.platform.at_the_browser = person.account if person else None

    # Who and what is here

    def user(
        self,
        name: str,
        *,
        guest: bool = False,
        stranger: bool = False,
        admin: bool = False,
        team: Team | None = None,
        locale: str = "en-US",
    ) -> Person:
        """A person: of this team, or a guest in it, or (`stranger`) of another organisation."""
        home = self.platform.world.team(f"{name}'s organisation") if stranger else team or self.team
        account = self.platform.world.account(
            home, name, is_guest=guest, is_stranger=stranger, is_admin=admin, locale=locale
        )
        return Person(account=account, slack=self)

    def other_bot(self, name: str) -> Person:
        """Somebody else's bot: what it says carries its own bot_id and app_id."""
        world = self.platform.world
        account = world.account(self.team, name, is_bot=True, bot_id=world.mint("B"), app_id=world.mint("A"))
        return Person(account=account, slack=self)

    @property
    def slackbot(self) -> Person:
        return Person(account=self.platform.world.accounts[SLACKBOT], slack=self)

    def other_team(self, name: str) -> Installation:
        """Another team that installed the same app."""
        return self.platform.install(self.app, self.platform.world.team(name))

    def channel(
        self, name: str, *, members: Iterable[Member], private: bool = False, team: Team | None = None
    ) -> Conversation:
        world = self.platform.world
        kind = Kind.PRIVATE if private else Kind.CHANNEL
        place = world.conversation(team or self.team, name, kind, [member.id for member in members])
        place.shared = any(world.accounts[member].is_stranger for member in place.members)
        return place

    def group(self, handle: str, *members: Member) -> Group:
        """A user group, pinged as `<!subteam^ID>`."""
        world = self.platform.world
        group = Group(id=world.mint("S"), team=self.team, handle=handle, members=[member.id for member in members])
        world.groups[group.id] = group
        return group

    def dm(self, person: Member) -> Conversation:
        """The person's direct messages with the bot of her team."""
        team = self.platform.world.accounts[person.id].team
        bot = next((i.bot for i in self.platform.installations if i.team is team), self.bot)
        return self.platform.world.direct(team, [bot.id, person.id])

    def group_dm(self, *people: Member) -> Conversation:
        return self.platform.world.direct(self.team, [self.bot.id, *(person.id for person in people)])

    def file(self, name: str, content: bytes, *, author: Member, mimetype: str = "text/plain") -> StoredFile:
        """A file in this Slack, not shared anywhere yet."""
        return self.platform.world.file(self.platform.world.accounts[author.id], name, content, mimetype)

    # What happened

    def message(self, post: Post) -> Message:
        return Message(post=post, world=self.platform.world)

    def messages(self, place: Conversation) -> list[Message]:
        """Everything that stands in the conversation, threads included, in order."""
        return [self.message(post) for post in place.posts.values()]

    def thread(self, message: Message) -> list[Message]:
        """The message's thread in order, its root first."""
        return [self.message(post) for post in message.channel.thread(message.root)]

    def replies(self, message: Message) -> list[Message]:
        """What the app posted in the message's thread after it."""
        return [m for m in self.thread(message) if m.author.app_id == self.app.id and m.ts > message.ts]

    def session(self, message: Message) -> Session:
        """What the app shows beside the message's thread: statuses, agent state, title."""
        return self.platform.sessions.of(message.channel.id, message.root)

    def status(self, message: Message) -> str:
        """The status that is shown in the message's thread now."""
        return self.platform.sessions.status(message.channel.id, message.root)

    def prompts(self, place: Conversation) -> list[str]:
        """The titles of the suggested prompts in a Messages tab."""
        return [prompt["title"] for prompt in self.platform.sessions.of(place.id, "").prompts]

    def calls(self, method: str | None = None) -> list[Logged]:
        """The calls of the Web API, of one method or all, in order."""
        return [call for call in self.platform.calls if method in {None, call.method}]

    @property
    def deliveries(self) -> list[Delivery]:
        """Everything that was brought to the app, with tries and ack times."""
        return self.platform.couriers[self.app.id].deliveries

    # Waiting, always for something

    async def reply_to(
        self,
        message: Message,
        *,
        saying: str = "",
        until: Callable[[Message], bool] = lambda _: True,
        within: float | None = None,
    ) -> Message:
        """The first finished reply of the app in the message's thread that says this and is as wanted."""

        def found() -> Message | None:
            for reply in self.replies(message):
                if reply.is_finished and self._finished(reply) and saying in reply.screen and until(reply):
                    return reply
            return None

        return await self.until(found, within=within, what=lambda: self._seen(message))

    async def until(
        self, condition: Callable[[], T | None], *, within: float | None = None, what: Callable[[], str] = str
    ) -> T:
        """The first true value of the condition, which is tried whenever anything happens here."""
        return await self.platform.feed.until(condition, within=within or self._patience, what=what)

    async def connected(self, connections: int = 1, *, within: float | None = None) -> None:
        """Wait until the app has so many Socket Mode connections open."""
        await self.until(
            lambda: self.network.connections >= connections,
            within=within,
            what=lambda: f"{self.network.connections} of {connections} connections are open.",
        )

    async def quiet(self, seconds: float = 0.3) -> None:
        """Nothing that a person could notice comes from an app for so long."""
        turn = self.platform.feed.turn
        await asyncio.sleep(seconds)
        if self.platform.feed.turn != turn:
            raise AssertionError(f"It was not quiet: {self.platform.calls[-3:]}")

    def typed(self, text: str, team: Team) -> str:
        """What the message box makes of typed text; `@bot` is the app's bot, whatever its name."""
        world = self.platform.world
        bot = next((i.bot for i in self.platform.installations if i.team is team), self.bot)
        places = [place for place in world.conversations.values() if place.team is team]
        aliased = Account(id=bot.id, team=team, name="bot")
        return compose(text, accounts=[*world.people_of(team), aliased], channels=places)

    @property
    def clock(self) -> Clock:
        return self.platform.clock

    @property
    def faults(self) -> Faults:
        return self.platform.faults

    def _seen(self, message: Message) -> str:
        return "The thread:\n" + "\n".join(repr(m) for m in self.thread(message))
