"""What is worked on once, who has it, and where it came from."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class InboxError(Exception):
    """The inbox cannot be reached."""

    def __str__(self) -> str:
        return self.__doc__ or ""


class ClaimLostError(Exception):
    """Somebody else has taken the item over, or it was forgotten: whoever worked on it stops."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """Something to work on. Slack's event id and (team, channel, ts) are each seen once."""

    team: str
    channel: str
    ts: str
    conversation: str
    person: str
    payload: Mapping[str, Any]
    """Plain data, cleaned."""
    event_id: str | None = None
    by_bot: bool = False


@dataclass(frozen=True, kw_only=True)
class Claim:
    """An item that is worked on, for the `attempt`th time."""

    team: str
    channel: str
    ts: str
    conversation: str
    person: str
    payload: Mapping[str, Any]
    attempt: int
    mark: uuid.UUID
    """Opaque; what is posted for this item carries it, and is found by it again."""
    replies: tuple[str, ...] = ()
    """The ts of what is known to be posted for it, in order."""
    outcome: Any = None
    """What is ready to be posted, as plain data."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """The ts of all that was asked in a conversation, and of all that was posted for it."""

    asked: frozenset[str]
    replied: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an item came from, and whose it is to change it."""

    team: str
    channel: str
    ts: str
    person: str = ""

    @property
    def named(self) -> dict[str, Any]:
        return {"this_team": self.team, "this_channel": self.channel, "this_ts": self.ts, "by": self.person}


@dataclass(frozen=True, kw_only=True)
class Concerned:
    """An item that somebody wanted to change, in its conversation; `done`: it was too late."""

    conversation: str
    done: bool
