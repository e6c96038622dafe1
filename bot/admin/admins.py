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
    """Those who are named in the settings, as `PERSON` or `TEAM:PERSON`; with `workspace`, also the workspace's own."""

    named: frozenset[str] = frozenset()
    workspace: bool = False

    def include(self, person: Person) -> bool:
        return not self.named.isdisjoint({person.id, f"{person.team}:{person.id}"}) or (
            self.workspace and person.vouched
        )
