"""The teams that the app is installed in: what is ours in one of them, found for each event and each job."""

from dataclasses import dataclass
from typing import Any, Protocol

from bot.slack.directory import Directory
from bot.slack.documents.ingesting import Ingesting
from bot.slack.incoming import Me
from bot.slack.listeners.interactions import Traces
from bot.slack.listeners.keeping import Keeping
from bot.slack.listeners.library import Shelf
from bot.slack.replies.answers import Answers
from bot.slack.replies.home import Home
from bot.slack.web import Web


@dataclass(frozen=True, kw_only=True)
class Team:
    """Everything that knows one team; no other team ever gets hold of it."""

    me: Me
    web: Web
    directory: Directory
    home: Home
    shelf: Shelf
    keeping: Keeping
    traces: Traces
    answers: Answers
    ingesting: Ingesting

    def named(self) -> dict[str, Any]:
        """What a listener may ask for in an event of this team, by the names of its parameters."""
        names = ("me", "directory", "home", "shelf", "keeping", "traces")
        return {name: getattr(self, name) for name in names}


class Teams(Protocol):
    """Both return None where the app is not installed in the team, or no longer. Both raise SlackError."""

    async def of(self, team: str | None) -> Team | None:
        """The team of an event or a job."""

    async def check(self, team: str | None) -> Team | None:
        """The same, after Slack was asked whether we still are there."""


class OneTeam:
    """The team whose token is in the settings; whatever reaches us is meant for it."""

    def __init__(self, team: Team) -> None:
        self._team = team

    async def of(self, _team: str | None) -> Team:
        return self._team

    async def check(self, _team: str | None) -> Team:
        return self._team
