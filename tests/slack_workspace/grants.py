"""What a person allowed an app on the OAuth page, until the app redeems the code."""

import secrets
from dataclasses import dataclass

from tests.slack_workspace.installation import App
from tests.slack_workspace.world import Account, Team


@dataclass(frozen=True, kw_only=True)
class Grant:
    app: App
    team: Team
    person: Account


class Grants:
    def __init__(self) -> None:
        self._by_code: dict[str, Grant] = {}

    def allow(self, app: App, team: Team, person: Account) -> str:
        """A code that the app may redeem once."""
        code = secrets.token_urlsafe(16)
        self._by_code[code] = Grant(app=app, team=team, person=person)
        return code

    def redeem(self, code: str, app: App) -> Grant | None:
        grant = self._by_code.pop(code, None)
        return grant if grant and grant.app is app else None
