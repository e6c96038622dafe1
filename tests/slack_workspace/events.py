"""The events that Slack raises for what happened, for each app that subscribed and may see them."""

from collections.abc import Iterator

from tests.slack_workspace import shapes
from tests.slack_workspace.installation import Installation
from tests.slack_workspace.world import Account, Conversation, Json, Kind, Post

_SUBSCRIPTION = {
    Kind.CHANNEL: ("message.channels", "channels:history"),
    Kind.PRIVATE: ("message.groups", "groups:history"),
    Kind.DM: ("message.im", "im:history"),
    Kind.GROUP_DM: ("message.mpim", "mpim:history"),
}


def hears(installation: Installation, event: str, scope: str | None = None) -> bool:
    """Is the app subscribed to the event, and was the scope granted?"""
    subscribed = event in installation.app.manifest.events
    return subscribed and not installation.revoked and (scope is None or scope in installation.scopes)


def _hears_messages(installation: Installation, place: Conversation) -> bool:
    event, scope = _SUBSCRIPTION[place.kind]
    return place.has(installation.bot.id) and hears(installation, event, scope)


def posted(installation: Installation, post: Post, *, host: str) -> Iterator[Json]:
    """A new message: the message event, and beside it `app_mention` when it names the bot outside a DM."""
    place = post.channel
    event = shapes.message(post, host=host, metadata=True) | _where(place) | {"event_ts": post.ts}
    if _mentions(installation, post) and place.has(installation.bot.id):
        yield {key: value for key, value in event.items() if key not in {"channel_type", "subtype"}} | {
            "type": "app_mention"
        }
    if _hears_messages(installation, place):
        yield event


def changed(
    installation: Installation, post: Post, before: Json, *, at: str, host: str, hidden: bool = True
) -> Iterator[Json]:
    """An edit, an unfurl or a new thread counter: all of them are `message_changed`."""
    if _hears_messages(installation, post.channel):
        yield {
            "type": "message",
            "subtype": "message_changed",
            "message": shapes.message(post, host=host, metadata=True),
            "previous_message": before,
            "hidden": hidden,
            "ts": at,
            "event_ts": at,
            **_where(post.channel),
        }


def deleted(installation: Installation, post: Post, before: Json, *, at: str) -> Iterator[Json]:
    if _hears_messages(installation, post.channel):
        yield {
            "type": "message",
            "subtype": "message_deleted",
            "deleted_ts": post.ts,
            "previous_message": before,
            "hidden": True,
            "ts": at,
            "event_ts": at,
            **_where(post.channel),
        }


def envelope(installation: Installation, event: Json, *, event_id: str, at: float, shared: bool = False) -> Json:
    """The outer payload around every event."""
    return {
        "token": installation.app.verification_token,
        "team_id": installation.team.id,
        "context_team_id": installation.team.id,
        "context_enterprise_id": None,
        "api_app_id": installation.app.id,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(at),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": installation.team.id,
                "user_id": installation.bot.id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": shared,
        "event_context": f"4-{event_id}",
    }


def home_opened(account: Account, place: Conversation, *, tab: str, at: str) -> Json:
    return {
        "type": "app_home_opened",
        "user": account.id,
        "channel": place.id,
        "tab": tab,
        "event_ts": at,
    }


def context(place: Conversation | None, account: Account) -> Json:
    """What the person looks at while the app is open."""
    if place is None:
        return {"context": {}}
    entity = {"type": "slack#/types/channel_id", "value": place.id, "team_id": account.team.id}
    return {"context": {"entities": [entity]}}


def _where(place: Conversation) -> Json:
    return {"channel": place.id, "channel_type": place.kind.value}


def _mentions(installation: Installation, post: Post) -> bool:
    named = f"<@{installation.bot.id}>" in post.text or f"<@{installation.bot.id}|" in post.text
    heard = hears(installation, "app_mention", "app_mentions:read")
    return named and heard and post.channel.kind is not Kind.DM and post.author is not installation.bot
