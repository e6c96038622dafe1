"""Who counts as an admin."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody in one team. `vouched`: Slack said that the person is an admin of the workspace."""

    team: str
    id: str
    vouched: bool = False


@dataclass(frozen=True, kw_only=True)
class Admins:
    """Those who are named in the settings; with `workspace`, also the admins of the workspace."""

    named: frozenset[str] = frozenset()
    workspace: bool = False

    def include(self, person: Person) -> bool:
        return person.id in self.named or (self.workspace and person.vouched)
