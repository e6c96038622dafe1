"""Erases a person, or a team, everywhere: what is under way ends, the memory goes, then every table in one transaction.

Each step may be done again: after a crash at any point, the same call finishes what was begun.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cleaning import clean
from bot.erasing.conversations import end, find, wait_for_end
from bot.erasing.holding import Whose
from bot.erasing.holdings import EXPERT_ANSWERS, HOLDINGS
from bot.memory import Memory

GUARD = 0x6572617365  # key of the advisory lock of whoever erases: two at once would wait for each other's rows
PATIENCE = 20.0
"""Seconds that work under way gets to notice that its message is gone."""
CONVERSATIONS = "conversations"

_ALONE = text("SELECT pg_advisory_xact_lock(:key)")
_TRIGGERS_FIND_THEIR_TABLES = text("SELECT set_config('search_path', current_setting('search_path') || ', jobs', true)")
"""Those of the queue name its tables without their schema."""


class WhoError(ValueError):
    """The person or the team has no name."""

    def __str__(self) -> str:
        return self.__doc__ or ""


@dataclass(frozen=True, kw_only=True)
class Erased:
    """How much was erased, by kind; a kind of which there was nothing is left out."""

    counts: Mapping[str, int]


class Disown(Protocol):
    """Takes a person's name off the answers that the person gave as an expert; returns how many there were."""

    async def __call__(self, person: str, /, *, team: str | None) -> int: ...


class Eraser:
    """`memories`: every store in which conversations may be remembered."""

    def __init__(
        self, engine: AsyncEngine, memories: Sequence[Memory], *, disown: Disown, patience: float = PATIENCE
    ) -> None:
        self._engine = engine
        self._memories = memories
        self._disown = disown
        self._patience = patience

    async def erase_person(self, person: str, *, team: str | None = None) -> Erased:
        """Erases what a person asked, said and did, in one team or in all. Raises WhoError, or a ServiceError.

        Every conversation in which the person asked or was heard is forgotten whole: what others asked leans on it.
        """
        return await self._erase(Whose(team=clean(team) if team else None, person=_named(person)))

    async def erase_team(self, team: str) -> Erased:
        """Deletes everything of a team. Raises WhoError."""
        return await self._erase(Whose(team=_named(team)))

    async def _erase(self, whose: Whose) -> Erased:
        ended = await end(self._engine, whose)
        remembered = [one for memory in self._memories for one in await memory.conversations()]
        conversations = await find(self._engine, whose, remembered)
        await wait_for_end(self._engine, {*ended, *conversations}, patience=self._patience)
        counts = Counter({CONVERSATIONS: await self._forget(conversations)})
        if whose.person:
            counts[EXPERT_ANSWERS] += await self._disown(whose.person, team=whose.team)
        counts.update(await self._erase_tables(replace(whose, conversations=conversations)))
        return Erased(counts={kind: number for kind, number in counts.items() if number})

    async def _forget(self, conversations: Sequence[str]) -> int:
        """What is being answered in a conversation ends first; what is asked from then on is a new beginning."""
        forgotten = 0
        for conversation in conversations:
            async with self._memories[0].hold(conversation):
                forgotten += any([await memory.forget(conversation) for memory in self._memories])
        return forgotten

    async def _erase_tables(self, whose: Whose) -> Counter[str]:
        counts: Counter[str] = Counter()
        async with self._engine.begin() as connection:
            await connection.execute(_ALONE, {"key": GUARD})
            await connection.execute(_TRIGGERS_FIND_THEIR_TABLES)
            for holding in HOLDINGS:
                erase = holding.person if whose.person else holding.team
                if erase:
                    rows = await erase(connection, whose)
                    counts[holding.kind] += rows if holding.kind else 0
        return counts


def _named(name: str) -> str:
    if not clean(name).strip():
        raise WhoError
    return clean(name).strip()
