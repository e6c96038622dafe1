"""Puts messages into conversations, changes and deletes them, and raises the events that follow."""

from typing import Any

from tests.slack_workspace import events, shapes
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Account, Conversation, Json, Post


def post(slack: Platform, place: Conversation, author: Account, text: str, **what: Any) -> Post:
    """A new message, seen by everybody in the conversation."""
    message = Post(ts=slack.clock.ts(), channel=place, author=author, text=text, **what)
    root = place.posts.get(message.root) if message.thread_ts else None
    first_reply = root is not None and not any(p is not root for p in place.thread(root.ts))
    before = shapes.message(root, host=slack.host) if root and first_reply else None
    place.add(message)
    if author.is_bot:
        slack.sessions.posted(place.id, message.root)
    slack.tell(place.team, lambda app: events.posted(app, message, host=slack.host), place=place)
    if root and before:
        _say_changed(slack, root, before)
    slack.feed.notify(noticed=author.is_bot)
    return message


def whisper(slack: Platform, place: Conversation, author: Account, reader: Account, text: str, **what: Any) -> Post:
    """An ephemeral message: one person sees it, nobody is told."""
    message = Post(ts=slack.clock.ts(), channel=place, author=author, text=text, only_for=reader.id, **what)
    place.shown.append(message)
    slack.feed.notify(noticed=author.is_bot)
    return message


def change(slack: Platform, message: Post, *, is_edit: bool = True, **what: Any) -> None:
    """New content for a message: an edit, or an unfurl that Slack adds by itself."""
    before = shapes.message(message, host=slack.host)
    for name, value in what.items():
        setattr(message, name, value)
    message.versions += 1
    if is_edit:
        message.edited = slack.clock.ts()
    if message.only_for is None:
        _say_changed(slack, message, before)
    slack.feed.notify(noticed=message.author.is_bot)


def delete(slack: Platform, message: Post) -> None:
    before = shapes.message(message, host=slack.host)
    if len(message.channel.thread(message.ts)) > 1:
        message.deleted, message.subtype = True, "tombstone"
        message.text, message.blocks, message.files = "This message was deleted.", [], []
    else:
        message.channel.remove(message)
    at = slack.clock.ts()
    slack.tell(message.channel.team, lambda app: events.deleted(app, message, before, at=at), place=message.channel)
    slack.feed.notify(noticed=message.author.is_bot)


def _say_changed(slack: Platform, message: Post, before: Json) -> None:
    at = slack.clock.ts()
    slack.tell(
        message.channel.team,
        lambda app: events.changed(app, message, before, at=at, host=slack.host),
        place=message.channel,
    )
