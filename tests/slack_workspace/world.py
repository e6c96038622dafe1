"""Who and what is in this Slack: teams, people, conversations, messages, files."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tests.slack_workspace.clock import Clock

Json = dict[str, Any]
SLACKBOT = "USLACKBOT"


class Kind(StrEnum):
    """What a conversation is, in the words of an event's `channel_type`."""

    CHANNEL = "channel"
    PRIVATE = "group"
    DM = "im"
    GROUP_DM = "mpim"


@dataclass(kw_only=True, eq=False)
class Team:
    id: str
    name: str

    @property
    def domain(self) -> str:
        return self.name.lower().replace(" ", "-")


@dataclass(kw_only=True, eq=False)
class Account:
    """A member of a team: a person, a guest, somebody of another organisation, a bot, Slackbot."""

    id: str
    team: Team
    name: str
    is_bot: bool = False
    is_guest: bool = False
    is_single_channel_guest: bool = False
    is_stranger: bool = False
    """Belongs to another organisation and is here through a shared channel."""
    is_admin: bool = False
    deleted: bool = False
    bot_id: str | None = None
    app_id: str | None = None
    locale: str = "en-US"
    tz: str = "Europe/London"

    @property
    def handle(self) -> str:
        return self.name.lower().replace(" ", ".")


@dataclass(kw_only=True, eq=False)
class Group:
    """A user group: `@hr` pings all its members."""

    id: str
    team: Team
    handle: str
    members: list[str]


@dataclass(kw_only=True, eq=False)
class StoredFile:
    id: str
    team: Team
    name: str
    content: bytes
    mimetype: str
    author: Account
    created: float
    title: str = ""
    channels: list[str] = field(default_factory=list)
    deleted: bool = False
    moved_to: str = ""
    """Another host, to which the download is redirected."""
    external: bool = False
    """Lives with another service: Slack holds a link only."""


@dataclass(kw_only=True, eq=False)
class Stream:
    """The state of a message that an app is still writing."""

    started: float
    appends: int = 0
    ended: str | None = None
    """Why nothing more may be appended, as the error says it."""
    tasks: dict[str, Json] = field(default_factory=dict)
    plan: str = ""
    recipient: str | None = None


@dataclass(kw_only=True, eq=False)
class Post:
    """One message as Slack stores it."""

    ts: str
    channel: "Conversation"
    author: Account
    text: str
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    files: list[StoredFile] = field(default_factory=list)
    metadata: Json | None = None
    thread_ts: str | None = None
    subtype: str | None = None
    broadcast: bool = False
    edited: str | None = None
    deleted: bool = False
    reactions: dict[str, list[str]] = field(default_factory=dict)
    stream: Stream | None = None
    only_for: str | None = None
    """An ephemeral message is seen by this person alone."""
    names_linked: bool = False
    """Posted with `link_names` or `parse=full`: a plain @channel becomes a ping."""
    unfurls: bool = True
    versions: int = 1
    """How often readers saw it change, the first sight included."""

    @property
    def root(self) -> str:
        """The ts that names the message's thread."""
        return self.thread_ts or self.ts

    @property
    def is_streaming(self) -> bool:
        return self.stream is not None and self.stream.ended is None


@dataclass(kw_only=True, eq=False)
class Conversation:
    id: str
    team: Team
    name: str
    kind: Kind
    created: float
    members: list[str] = field(default_factory=list)
    posts: dict[str, Post] = field(default_factory=dict)
    threads: dict[str, list[Post]] = field(default_factory=dict)
    """Messages by the ts of their thread's root, the root first."""
    shown: list[Post] = field(default_factory=list)
    """Ephemeral messages, in order."""
    archived: bool = False
    shared: bool = False
    """A Slack Connect channel: people of other organisations are in it."""
    limits_threads: bool = False
    """Its admins allow only threads: posting at top level is restricted."""
    is_general: bool = False

    @property
    def is_private(self) -> bool:
        return self.kind is not Kind.CHANNEL

    def add(self, post: Post) -> None:
        self.posts[post.ts] = post
        self.threads.setdefault(post.root, []).append(post)

    def remove(self, post: Post) -> None:
        post.deleted = True
        self.posts.pop(post.ts, None)
        self.threads[post.root].remove(post)

    def thread(self, root: str) -> list[Post]:
        """The thread's messages in order, its root first."""
        return self.threads.get(root, [])

    def has(self, account: str) -> bool:
        return account in self.members


class World:
    """Everything that is in this Slack, by id."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.teams: dict[str, Team] = {}
        self.accounts: dict[str, Account] = {}
        self.conversations: dict[str, Conversation] = {}
        self.files: dict[str, StoredFile] = {}
        self.groups: dict[str, Group] = {}
        self._minted = 0

    def mint(self, prefix: str) -> str:
        """An id of Slack's looks: a letter for the kind, then capitals and digits."""
        self._minted += 1
        return f"{prefix}0{self._minted:08X}"

    def team(self, name: str) -> Team:
        team = Team(id=self.mint("T"), name=name)
        self.teams[team.id] = team
        self.accounts.setdefault(SLACKBOT, Account(id=SLACKBOT, team=team, name="Slackbot"))
        return team

    def account(self, team: Team, name: str, **what: Any) -> Account:
        account = Account(id=self.mint("U"), team=team, name=name, **what)
        self.accounts[account.id] = account
        return account

    def conversation(self, team: Team, name: str, kind: Kind, members: list[str]) -> Conversation:
        prefix = "D" if kind is Kind.DM else "C"
        conversation = Conversation(
            id=self.mint(prefix), team=team, name=name, kind=kind, created=self.clock.now(), members=members
        )
        self.conversations[conversation.id] = conversation
        return conversation

    def file(self, author: Account, name: str, content: bytes, mimetype: str) -> StoredFile:
        stored = StoredFile(
            id=self.mint("F"),
            team=author.team,
            name=name,
            content=content,
            mimetype=mimetype,
            author=author,
            created=self.clock.now(),
        )
        self.files[stored.id] = stored
        return stored

    def direct(self, team: Team, members: list[str]) -> Conversation:
        """The DM (two members) or group DM of exactly these people, opened when it is not there yet."""
        kind = Kind.DM if len(members) == 2 else Kind.GROUP_DM
        for known in self.conversations.values():
            if known.kind is kind and known.team is team and set(known.members) == set(members):
                return known
        name = "mpdm-" + "--".join(self.accounts[m].handle for m in members) + "-1" if kind is Kind.GROUP_DM else ""
        return self.conversation(team, name, kind, members)

    def people_of(self, team: Team) -> Iterator[Account]:
        return (account for account in self.accounts.values() if account.team is team)
