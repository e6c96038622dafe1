"""A call of the Web API, and how a method refuses it."""

from dataclasses import dataclass, field
from typing import Any

from tests.slack_workspace.installation import App, Installation
from tests.slack_workspace.world import Account, Conversation, Json, Kind


class Refusal(Exception):  # noqa: N818 - Slack answers "no"; nothing broke
    """The method says no; the message is Slack's error code."""

    def __init__(self, error: str, *messages: str, **extra: Any) -> None:
        super().__init__(error)
        self.error = error
        self.messages = messages
        self.extra = extra

    def body(self) -> Json:
        metadata = {"response_metadata": {"messages": list(self.messages)}} if self.messages else {}
        return {"ok": False, "error": self.error, **self.extra, **metadata}


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call, its caller known and its arguments parsed."""

    method: str
    args: Json
    app: App
    installation: Installation | None
    person: Account | None = None
    """Who signed in, for calls with her own token."""

    @property
    def by(self) -> Installation:
        if self.installation is None:
            raise Refusal("not_allowed_token_type")
        return self.installation

    @property
    def bot(self) -> Account:
        return self.by.bot

    def text(self, name: str, default: str = "") -> str:
        value = self.args.get(name)
        return default if value is None else str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.args.get(name)
        return default if value is None else str(value).lower() in {"1", "true"}

    def number(self, name: str, default: int) -> int:
        value = self.args.get(name)
        try:
            return default if value is None else int(value)
        except (TypeError, ValueError):
            raise Refusal("invalid_arguments", f"[ERROR] {name} must be an integer") from None

    def need(self, scope: str) -> None:
        """A scope that depends on what the call is about."""
        if scope not in self.by.scopes:
            raise Refusal("missing_scope", needed=scope, provided=",".join(sorted(self.by.scopes)))

    def need_for(self, place: Conversation, what: str) -> None:
        """`channels:history`, `im:read` …: the conversation's kind decides."""
        family = {Kind.CHANNEL: "channels", Kind.PRIVATE: "groups", Kind.DM: "im", Kind.GROUP_DM: "mpim"}
        self.need(f"{family[place.kind]}:{what}")


@dataclass(frozen=True, kw_only=True)
class Logged:
    """A call that was made, for tests to count and to look at."""

    method: str
    args: Json
    at: float
    result: Json = field(default_factory=dict)
    status: int = 200

    @property
    def ok(self) -> bool:
        return bool(self.result.get("ok"))

    @property
    def error(self) -> str | None:
        error = self.result.get("error")
        return None if error is None else str(error)
