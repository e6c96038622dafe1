"""Who counts as an admin."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Ask = Callable[[str, str], Awaitable[bool]]
"""Is this person (team, id) an admin of the workspace, as Slack says?"""


async def nobody(_team: str, _person: str) -> bool:
    """Where admins of the workspace are not admins here."""
    return False


@dataclass(frozen=True, kw_only=True)
class Admins:
    """Those who are named in the settings, and by setting the admins of the workspace."""

    named: frozenset[str] = frozenset()
    of_workspace: Ask = nobody

    async def include(self, team: str, person: str) -> bool:
        return person in self.named or await self.of_workspace(team, person)
