"""What the pages work with."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.admins import Admins
from bot.admin.documents import WORKSPACE
from bot.admin.links import Links
from bot.admin.openid import OpenId
from bot.answering import Answering
from bot.experts.answers import Experts
from bot.prices import Price
from crag_graph.embedding import Embedder
from crag_graph.knowledge.demotions import Demotions
from crag_graph.knowledge.ingest import Ingest

Names = Callable[[str, Collection[str], Collection[str]], Awaitable[Mapping[str, str]]]
"""What people and channels of a team are called, by id."""


async def nameless(_team: str, _people: Collection[str], _channels: Collection[str]) -> Mapping[str, str]:
    """Where nobody knows names, ids are shown."""
    return {}


def one_space(_team: str) -> str:
    """Where one installation serves one team."""
    return WORKSPACE


def own_space(team: str) -> str:
    """Where each team installs the app itself."""
    return f"{team}:{WORKSPACE}"


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Desk:
    """`prices`: by model, in dollars.

    `texts`: prompts and replies of the models are kept in traces. `slow`: milliseconds that a question takes when
    it counts as slow.
    """

    engine: AsyncEngine
    admins: Admins
    answering: Answering
    embedder: Embedder
    ingest: Ingest
    experts: Experts
    links: Links
    openid: OpenId | None = None
    """Signing in with Slack, where that is set up."""
    names: Names = nameless
    everybody: Callable[[str], str] = one_space
    """The space of the library that everybody in a team sees."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    texts: bool = False
    slow: float = 5_000.0
    now: Callable[[], datetime] = _now
    errands: set[asyncio.Task[None]] = field(default_factory=set)
    """What goes on after its page was sent."""

    @property
    def demotions(self) -> Demotions:
        """What was said against passages."""
        return Demotions(engine=self.engine, embedder=self.embedder)
