"""Which conversations are forgotten with somebody, and ending what is under way for them."""

import asyncio
import time
from collections.abc import Collection, Iterable

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.erasing.holding import OF_TEAM, Whose

LOOK_AGAIN = 0.1
"""Seconds."""

_MINE = "((CAST(:person AS text) = '' AND team = :team) OR person = :person)"
_ASKED = text(
    f"SELECT conversation FROM inbox WHERE {_MINE} AND {OF_TEAM} AND starts_with(conversation, team || ':')"  # noqa: S608 - constants
    f" UNION SELECT conversation FROM runs WHERE ({_MINE.replace('person =', 'asker =')} OR :person = ANY(heard))"
    f" AND {OF_TEAM} AND conversation <> ''"
)
_REMEMBERED = text("SELECT DISTINCT thread_id FROM memory.checkpoints")
_END = text(
    "UPDATE inbox SET payload = NULL, outcome = NULL, done_at = now()"  # noqa: S608 - constants
    f" WHERE {_MINE} AND {OF_TEAM} AND done_at IS NULL RETURNING conversation"
)
_GOING_ON = text(
    "SELECT EXISTS (SELECT FROM jobs.procrastinate_jobs WHERE status = 'doing' AND args->>'subject' = ANY(:subjects))"
)


async def find(engine: AsyncEngine, whose: Whose, remembered: Iterable[str]) -> tuple[str, ...]:
    """The team's conversations, or those in which the person asked or was heard. `remembered`: what is known beside the database."""
    async with engine.connect() as connection:
        asked = (await connection.execute(_ASKED, _named(whose))).scalars().all()
        stored = (await connection.execute(_REMEMBERED)).scalars().all()
    return tuple(sorted({*asked, *(one for one in {*stored, *remembered} if _belongs(one, whose))}))


async def end(engine: AsyncEngine, whose: Whose) -> tuple[str, ...]:
    """Empties what waits and what is being worked on: whoever works on it loses it. Returns the subjects of the work."""
    async with engine.begin() as connection:
        return tuple((await connection.execute(_END, _named(whose))).scalars())


async def wait_for_end(engine: AsyncEngine, subjects: Collection[str], *, patience: float) -> None:
    """Until no worker, on whatever machine, works on these subjects any more, or patience (seconds) is over."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        async with engine.connect() as connection:
            if not (await connection.execute(_GOING_ON, {"subjects": list(subjects)})).scalar_one():
                return
        await asyncio.sleep(LOOK_AGAIN)


def _belongs(conversation: str, whose: Whose) -> bool:
    """By its name: what was asked in private carries the person's id."""
    in_team = whose.team is None or conversation.startswith(f"{whose.team}:")
    return in_team and (not whose.person or conversation.endswith(f":private-{whose.person}"))


def _named(whose: Whose) -> dict[str, str | None]:
    return {"person": whose.person, "team": whose.team}
