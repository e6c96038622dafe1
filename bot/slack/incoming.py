"""From a payload to a message: which events are questions, and to which conversation they belong."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from bot.channels.settings import Changers, ChannelSettings, Manner
from bot.inbox import Place
from bot.slack.text.mrkdwn import clean, mentioned, wordless

SLACKBOT = "USLACKBOT"
WORKSPACE = "workspace"
"""The space of the library that everybody sees, where one installation serves one team."""
PRIVATE = "private-"
"""Before the person whose conversation it is alone, in the place of a thread or after it."""
QUESTIONS = frozenset({None, "file_share", "thread_broadcast"})
"""Subtypes that a person's own new message may have; a broadcast reply comes instead of the plain event."""


class Kind(StrEnum):
    """What a place is, in the words of an event's `channel_type`; unknown where the event does not say."""

    CHANNEL = "channel"
    PRIVATE = "group"
    DM = "im"
    GROUP_DM = "mpim"
    UNKNOWN = ""


@dataclass(frozen=True, kw_only=True)
class Me:
    """Who we are at Slack: one app in one team."""

    team: str
    user: str
    bot: str = ""
    app: str = ""
    url: str = ""
    """Address of the team's Slack, with a slash at the end."""
    everybody: str = WORKSPACE
    """The space of the library that everybody in the team sees."""


@dataclass(frozen=True, kw_only=True)
class Manners:
    """How the bot behaves in channels where nobody has settled anything: what the installation says, by channel id."""

    usual: Manner = Manner.THREAD
    channels: Mapping[str, Manner] = field(default_factory=dict)
    bots: frozenset[str] = frozenset()
    """Channels where other bots may ask."""

    changers: Changers = Changers.MEMBERS
    """Who may change the settings of a channel."""

    def settings(self, channel: str) -> ChannelSettings:
        return ChannelSettings(
            manner=self.channels.get(channel, self.usual), bots=channel in self.bots, changers=self.changers
        )

    def adapt(self, settings: ChannelSettings, channel: str, kind: Kind) -> ChannelSettings:
        """In direct messages of several people every message is for us, unless somebody has settled otherwise."""
        if kind is Kind.GROUP_DM and settings.version == 0 and channel not in self.channels:
            return replace(settings, manner=Manner.ALL)
        return settings


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message that may be a question. `text` is Slack's markup, cleaned; `home` is the author's own team."""

    team: str
    channel: str
    ts: str
    thread: str
    """The ts of the thread's root: the message itself where it starts one."""
    user: str
    text: str
    kind: Kind = Kind.UNKNOWN
    home: str = ""
    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """What the files are called, in their order; empty where Slack does not say."""
    event_id: str | None = None
    mentions_us: bool = False
    mentions_others: bool = False
    from_bot: bool = False
    private: bool = False
    """Answered to its author alone, though it was asked where others are."""

    @property
    def conversation(self) -> str:
        """The one name of the conversation: team, channel and thread; what is answered privately is its author's own."""
        return private_conversation(self.shared_conversation, self.user) if self.private else self.shared_conversation

    @property
    def shared_conversation(self) -> str:
        return f"{self.team}:{self.channel}:{self.thread}"

    @property
    def is_reply(self) -> bool:
        return self.thread != self.ts

    @property
    def stands_in_slack(self) -> bool:
        """What was asked by a command does not: nothing can be linked to, and nothing was said before it."""
        return not self.thread.startswith(PRIVATE)

    def permalink(self, me: Me) -> str:
        """Of the message at Slack; empty where there is none."""
        if not me.url or not self.stands_in_slack:
            return ""
        thread = f"?thread_ts={self.thread}&cid={self.channel}" if self.is_reply else ""
        return f"{me.url}archives/{self.channel}/p{self.ts.replace('.', '')}{thread}"


def read(body: Mapping[str, Any], me: Me) -> Message | None:
    """The message in an event, or None where it is no person's new message: our own, an edit, an unfurl, Slackbot's."""
    event: Mapping[str, Any] = body.get("event") or {}
    if _is_news(event) and not _is_ours(event, me) and event.get("user") != SLACKBOT:
        return _message(body, event, me)
    return None


def private_conversation(conversation: str, person: str) -> str:
    """What one person is answered privately in a thread that others read, too."""
    return f"{conversation}:{PRIVATE}{person}"


class Threads(Protocol):
    """Whoever knows what became of the threads that we have taken part in."""

    async def joined(self, conversation: str, person: str) -> bool:
        """We have taken part in it, and the person may go on with it without calling us."""

    async def handed_on(self, place: Place, conversation: str) -> bool:
        """Somebody else than the person has called people to answer there in our place."""


async def asks(message: Message, settings: ChannelSettings, threads: Threads) -> bool:
    """Is the message meant for us? Where we are switched off a mention still is: whoever mentions us is told."""
    if message.from_bot and (not settings.bots or settings.manner is Manner.OFF):
        return False
    if message.mentions_us or message.kind is Kind.DM:
        return True
    for_the_others = message.mentions_others or (message.files and wordless(message.text))
    if for_the_others or settings.manner in {Manner.MENTION, Manner.OFF}:
        return False
    if settings.manner is not Manner.ALL:
        return message.is_reply and await threads.joined(message.conversation, message.user)
    root = Place(team=message.team, channel=message.channel, ts=message.thread, person=message.user)
    return not (message.is_reply and await threads.handed_on(root, message.shared_conversation))


def privately(message: Message, settings: ChannelSettings) -> Message:
    """The message as the channel has it answered; a bot can read no private answer."""
    hidden = settings.private_first or settings.manner is Manner.OFF
    return replace(message, private=hidden and message.kind is not Kind.DM and not message.from_bot)


def _is_news(event: Mapping[str, Any]) -> bool:
    known = event.get("subtype") in QUESTIONS or _is_bots(event)
    return known and not (event.get("hidden") or event.get("edited")) and bool(event.get("ts") and event.get("channel"))


def _is_bots(event: Mapping[str, Any]) -> bool:
    return bool(event.get("bot_id")) or event.get("subtype") == "bot_message"


def _is_ours(event: Mapping[str, Any], me: Me) -> bool:
    """Our app may speak in a shared channel for another team, too: that is somebody else."""
    profile: Mapping[str, Any] = event.get("bot_profile") or {}
    ours = [(event.get("user"), me.user), (event.get("bot_id"), me.bot)]
    if (profile.get("team_id") or event.get("team") or me.team) == me.team:
        ours += [(event.get("app_id"), me.app), (profile.get("app_id"), me.app)]
    return any(theirs and theirs == mine for theirs, mine in ours)


def _message(body: Mapping[str, Any], event: Mapping[str, Any], me: Me) -> Message:
    text = clean(event.get("text") or "")
    people = mentioned(text)
    files = files_of(event)
    return Message(
        team=_team(body, event) or me.team,
        channel=event["channel"],
        ts=event["ts"],
        thread=event.get("thread_ts") or event["ts"],
        user=event.get("user") or event.get("bot_id") or "",
        text=text,
        kind=_kind(event),
        home=event.get("user_team") or event.get("source_team") or event.get("team") or "",
        files=tuple(file for file, _ in files),
        names=tuple(name for _, name in files),
        event_id=body.get("event_id"),
        mentions_us=me.user in people or event.get("type") == "app_mention",
        mentions_others=bool(people - {me.user}),
        from_bot=_is_bots(event),
    )


def files_of(message: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The files of a message as Slack tells it, by id and name."""
    return tuple(
        (one["id"], clean(one.get("name") or one.get("title") or ""))
        for one in message.get("files") or ()
        if one.get("id")
    )


def _team(body: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    """The team where we are installed, which in a shared channel is not the author's."""
    installed = [a["team_id"] for a in body.get("authorizations") or () if a.get("team_id")]
    return str(next(iter(installed), None) or body.get("team_id") or event.get("team") or "")


def _kind(event: Mapping[str, Any]) -> Kind:
    told = event.get("channel_type")
    if told in set(Kind):
        return Kind(told)
    return Kind.DM if event["channel"].startswith("D") else Kind.UNKNOWN
