"""What a person allowed an app on the OAuth or the sign-in page: by code until the app redeems it, then by token."""

import secrets
from dataclasses import dataclass

from tests.slack_workspace.installation import App
from tests.slack_workspace.world import Account, Team


@dataclass(frozen=True, kw_only=True)
class Grant:
    app: App
    team: Team
    person: Account
    redirect_uri: str = ""
    nonce: str = ""


class Grants:
    def __init__(self) -> None:
        self._by_code: dict[str, Grant] = {}
        self._by_token: dict[str, Grant] = {}

    def allow(self, grant: Grant) -> str:
        """A code that the app may redeem once."""
        code = secrets.token_urlsafe(16)
        self._by_code[code] = grant
        return code

    def token(self, grant: Grant) -> str:
        """With it the app may ask who the person is."""
        token = f"xoxp-{secrets.token_hex(16)}"
        self._by_token[token] = grant
        return token

    def whose(self, token: str) -> Grant | None:
        return self._by_token.get(token)

    def redeem(self, code: str, app: App) -> Grant | None:
        grant = self._by_code.pop(code, None)
        return grant if grant and grant.app is app else None
