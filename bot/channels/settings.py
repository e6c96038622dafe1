"""The settings of one channel, as plain values."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

MOST_BOT_TURNS = 5
"""Questions of other bots in one conversation, unless the channel says otherwise: two bots would talk for ever."""


class Manner(StrEnum):
    """What the bot answers in a channel."""

    MENTION = "mention"
    """Only messages that mention it."""
    THREAD = "thread"
    """Also replies in threads that it has joined."""
    ALL = "all"
    """Every message that is not meant for somebody else."""
    OFF = "off"
    """Nothing."""


class WebUse(StrEnum):
    """Whether a question that the library does not answer goes to the web."""

    ON = "on"
    OFF = "off"
    ASK = "ask"
    """Only when the asker says so, under an answer that did without."""


class Ingesters(StrEnum):
    """Who may add documents in a channel. Admins always may."""

    EVERYBODY = "everybody"
    NAMED = "named"
    ADMINS = "admins"


class Changers(StrEnum):
    """Who may change a channel's settings. Admins always may."""

    MEMBERS = "members"
    ADMINS = "admins"


@dataclass(frozen=True, kw_only=True)
class ChannelSettings:
    """How the bot behaves in one channel. The defaults are what it does where nobody has settled anything.

    `version` counts the changes (0: none was ever made) and `changed_by` is who made the last one: `Channels.save`
    takes what was read before, changed by `dataclasses.replace`, and refuses it where somebody was quicker.
    """

    manner: Manner = Manner.THREAD
    web: WebUse = WebUse.ON
    private_first: bool = False
    """Answers go to their asker alone, who may share them in the channel."""
    workspace: bool = True
    """Answers may use the documents for everybody; those of the channel itself they may always use."""
    ingest: Ingesters = Ingesters.EVERYBODY
    ingesters: tuple[str, ...] = ()
    """Who may add documents, where they are `NAMED`: user ids."""
    bots: bool = False
    """Other bots may ask, too."""
    bot_turns: int = MOST_BOT_TURNS
    """So many questions of other bots in one conversation."""
    callable_people: tuple[str, ...] = ()
    """User ids of those who are called when there is no answer."""
    callable_groups: tuple[str, ...] = ()
    """The same of user groups."""
    changers: Changers = Changers.MEMBERS
    version: int = 0
    changed_by: str = ""

    @property
    def calls_people(self) -> bool:
        """Somebody may be called where there is no answer."""
        return bool(self.callable_people or self.callable_groups)

    def choices(self) -> dict[str, Any]:
        """What was settled, without who did and how often: plain data."""
        plain = asdict(self)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in plain.items()
            if name not in {"version", "changed_by"}
        }

    def may_ingest(self, person: str, *, admin: bool) -> bool:
        match self.ingest:
            case Ingesters.EVERYBODY:
                return True
            case Ingesters.NAMED:
                return admin or person in self.ingesters
            case Ingesters.ADMINS:
                return admin
