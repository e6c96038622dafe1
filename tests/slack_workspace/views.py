"""Open modals and home tabs."""

from dataclasses import dataclass, field

from tests.slack_workspace.installation import Installation
from tests.slack_workspace.world import Account, Json


@dataclass(kw_only=True, eq=False)
class OpenView:
    """A view that a person looks at, as the app last sent it."""

    id: str
    person: Account
    installation: Installation
    view: Json
    root_id: str
    previous_id: str | None = None
    hash: str = ""
    versions: int = 1
    """How often readers saw it change, the first sight included."""
    closed: bool = False

    def shape(self) -> Json:
        """The view as events and responses carry it."""
        return {
            "id": self.id,
            "team_id": self.person.team.id,
            "app_id": self.installation.app.id,
            "bot_id": self.installation.bot.bot_id,
            "app_installed_team_id": self.installation.team.id,
            "root_view_id": self.root_id,
            "previous_view_id": self.previous_id,
            "hash": self.hash,
            "private_metadata": "",
            "callback_id": "",
            "external_id": "",
            "clear_on_close": False,
            "notify_on_close": False,
            "state": {"values": {}},
            "close": None,
            "submit": None,
            **self.view,
        }


@dataclass(kw_only=True)
class Views:
    modals: list[OpenView] = field(default_factory=list)
    homes: dict[tuple[str, str], OpenView] = field(default_factory=dict)
    """By app and person."""

    def find(self, view_id: str, external_id: str = "") -> OpenView | None:
        everything = [*self.modals, *self.homes.values()]
        for view in everything:
            if (view_id and view.id == view_id) or (external_id and view.view.get("external_id") == external_id):
                return view
        return None

    def stack_of(self, person: Account) -> list[OpenView]:
        """The person's open modals, the visible one last."""
        return [view for view in self.modals if view.person is person and not view.closed]
