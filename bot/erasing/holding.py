"""What a table holds of people, and how it lets go of that: the one form in which every table is registered."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

ERASED = "erased"
"""Stands where a person stood in what stays: the id of nobody."""

OF_TEAM = "(CAST(:team AS text) IS NULL OR team = :team)"


@dataclass(frozen=True, kw_only=True)
class Whose:
    """Whose data is meant: a person's, in one team or (None) in all; a whole team's where `person` is empty.

    `conversations`: those that are forgotten whole.
    """

    team: str | None
    person: str = ""
    conversations: tuple[str, ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """For statements. `who` and `which` are patterns that match the person's and the team's id as a whole word."""
        return {
            "team": self.team,
            "person": self.person,
            "conversations": list(self.conversations),
            "erased": ERASED,
            "who": _word(self.person),
            "which": _word(self.team or ""),
        }

    def for_query(self, query: TextClause) -> dict[str, Any]:
        """Those that the query uses."""
        parameters = self.parameters
        return {name: parameters[name] for name in query.compile().params}


Erase = Callable[[AsyncConnection, Whose], Awaitable[int]]
"""Lets go of what is somebody's; returns how many rows that were."""


@dataclass(frozen=True, kw_only=True)
class Holding:
    """A table that holds something of people or of teams.

    `kind`: what its rows are called in a report; rows of one kind are counted together, those of none not at all.
    `person`, `team`: None where its rows are erased with those of another table. `export`: a query for the rows that
    are a person's own, by the names that the person reads.
    """

    table: str
    kind: str = ""
    person: Erase | None = None
    team: Erase | None = None
    export: str = ""


def statements(*queries: str) -> Erase:
    """Runs them in order; the rows of all are counted. They use the names of `Whose.parameters`."""
    prepared = [text(query) for query in queries]

    async def erase(connection: AsyncConnection, whose: Whose) -> int:
        return sum([(await connection.execute(query, whose.for_query(query))).rowcount for query in prepared])

    return erase


def deleted(table: str) -> Erase:
    """Deletes what is a team's, in a table with a column `team`."""
    return statements(f"DELETE FROM {table} WHERE team = :team")  # noqa: S608 - the name is a constant


def _word(name: str) -> str:
    return rf"\m{re.escape(name)}\M"
