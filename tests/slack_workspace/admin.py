"""What a workspace's administrators do: channels, members, the app's scopes, its removal."""

from typing import Protocol

from tests.slack_workspace import events, posting
from tests.slack_workspace.installation import Installation
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Conversation, Json, Kind


class Member(Protocol):
    """Whoever can be in a conversation: a Person or an Account."""

    @property
    def id(self) -> str: ...


class Admin:
    def __init__(self, slack: Platform, installation: Installation) -> None:
        self._slack = slack
        self._installation = installation

    def renames(self, place: Conversation, name: str) -> None:
        place.name = name
        kind = "group_rename" if place.kind is Kind.PRIVATE else "channel_rename"
        channel = {"id": place.id, "name": name, "created": int(place.created)}
        self._tell_members(place, {"type": kind, "channel": channel})

    def archives(self, place: Conversation) -> None:
        place.archived = True
        self._tell_members(place, {"type": "channel_archive", "channel": place.id, "user": ""})

    def unarchives(self, place: Conversation) -> None:
        place.archived = False
        self._tell_members(place, {"type": "channel_unarchive", "channel": place.id, "user": ""})

    def allows_only_threads(self, place: Conversation) -> None:
        place.limits_threads = True

    def adds(self, member: Member, *, to: Conversation) -> None:
        to.members.append(member.id)
        account = self._slack.world.accounts[member.id]
        posting.post(self._slack, to, account, f"<@{member.id}> has joined the channel", subtype="channel_join")
        self._tell_members(to, self._membership("member_joined_channel", member, to))

    def removes(self, member: Member, *, from_: Conversation) -> None:
        """The one who goes is told too: so a bot learns that it was removed."""
        left = self._membership("member_left_channel", member, from_)
        self._tell_members(from_, left)
        from_.members.remove(member.id)

    def deactivates(self, member: Member) -> None:
        self._slack.world.accounts[member.id].deleted = True

    def takes_scope(self, scope: str) -> None:
        """The app was installed without this scope."""
        self._installation.scopes.discard(scope)

    def revokes_token(self) -> None:
        revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [self._installation.bot.id]}}
        self._tell_app(revoked)
        self._installation.revoked = "token_revoked"

    def uninstalls(self) -> None:
        self._tell_app({"type": "app_uninstalled"})
        self._installation.revoked = "account_inactive"

    def _membership(self, kind: str, member: Member, place: Conversation) -> Json:
        letter = "G" if place.kind is Kind.PRIVATE else "C"
        return {
            "type": kind,
            "user": member.id,
            "channel": place.id,
            "channel_type": letter,
            "team": place.team.id,
        }

    def _tell_members(self, place: Conversation, event: Json) -> None:
        at = self._slack.clock.ts()
        self._slack.tell(
            place.team,
            lambda app: (
                [event | {"event_ts": at}] if place.has(app.bot.id) and events.hears(app, event["type"]) else []
            ),
            place=place,
        )

    def _tell_app(self, event: Json) -> None:
        if events.hears(self._installation, event["type"]):
            self._slack.raise_event(self._installation, event | {"event_ts": self._slack.clock.ts()})
