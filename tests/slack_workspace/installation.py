"""An app and what its manifest asks for: scopes, events, commands; and where it was installed."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.slack_workspace.world import Account, Team

SCOPES = frozenset(
    [
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "mpim:history",
        "mpim:read",
        "reactions:write",
        "usergroups:read",
        "users:read",
    ]
)
EVENTS = frozenset(
    [
        "agent_session_stopped",
        "app_context_changed",
        "app_home_opened",
        "app_mention",
        "app_uninstalled",
        "channel_rename",
        "member_left_channel",
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
        "tokens_revoked",
    ]
)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What Slack knows of an app before anybody has installed it."""

    name: str = "bot"
    scopes: frozenset[str] = SCOPES
    events: frozenset[str] = EVENTS
    commands: frozenset[str] | None = None
    """None: every command is known and escaped, for apps that bring no manifest."""
    escaped_commands: frozenset[str] = frozenset()
    shortcuts: dict[str, str] = field(default_factory=dict)
    """Callback id by the name that people see."""

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        written: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        features = written.get("features", {})
        commands = features.get("slash_commands", [])
        scopes = written["oauth_config"]["scopes"]
        return cls(
            name=features.get("bot_user", {}).get("display_name", written["display_information"]["name"]),
            scopes=frozenset(scopes.get("bot", [])) | frozenset(scopes.get("bot_optional", [])),
            events=frozenset(written.get("settings", {}).get("event_subscriptions", {}).get("bot_events", [])),
            commands=frozenset(command["command"] for command in commands),
            escaped_commands=frozenset(c["command"] for c in commands if c.get("should_escape")),
            shortcuts={shortcut["name"]: shortcut["callback_id"] for shortcut in features.get("shortcuts", [])},
        )


@dataclass(kw_only=True, eq=False)
class App:
    """An app with its secrets; `request_url` set means HTTP delivery, else Socket Mode."""

    id: str
    manifest: Manifest
    app_token: str
    client_id: str
    client_secret: str = field(default_factory=lambda: secrets.token_hex(16))
    signing_secret: str = field(default_factory=lambda: secrets.token_hex(16))
    verification_token: str = field(default_factory=lambda: secrets.token_hex(12))
    request_url: str | None = None
    command_url: str | None = None
    interactivity_url: str | None = None


@dataclass(kw_only=True, eq=False)
class Installation:
    """An app in a team: its bot user, its token, what it may do."""

    app: App
    team: Team
    bot: Account
    token: str
    scopes: set[str]
    revoked: str | None = None
    """The error that its token gives from now on."""
    renewals: int = 0

    def renew(self, *, scopes: set[str]) -> None:
        """Installed again: what was revoked gets a new token, what works keeps it."""
        self.scopes = scopes
        if self.revoked:
            self.rotate()

    def rotate(self) -> None:
        self.renewals += 1
        self.revoked = None
        self.token = f"xoxb-{self.team.id}-{self.bot.id}-local-{self.renewals}"

    @property
    def refresh_token(self) -> str:
        """Good until the token was renewed with it."""
        return f"xoxe-1-{self.team.id}-{self.renewals}"
