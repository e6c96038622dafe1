"""What an app sends to a response_url, or answers in the ack of a command: shown to one person or to all."""

from tests.slack_workspace import posting
from tests.slack_workspace.calls import Refusal
from tests.slack_workspace.content import content
from tests.slack_workspace.handles import ResponseUrl
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Json, Post

KNOWN = frozenset(
    [
        "text",
        "blocks",
        "attachments",
        "response_type",
        "replace_original",
        "delete_original",
        "thread_ts",
        "mrkdwn",
        "unfurl_links",
        "unfurl_media",
        "metadata",
    ]
)


def respond(slack: Platform, key: str, body: Json) -> Post | None:
    return show(slack, slack.response_urls.use(key), body)


def show(slack: Platform, url: ResponseUrl, body: Json) -> Post | None:
    """Show the answer in its place; None where it only removed a message."""
    if not isinstance(body, dict) or body.keys() - KNOWN:
        raise Refusal("invalid_payload")
    if url.on is not None and body.get("delete_original"):
        _remove(slack, url.on)
        return None
    what = content(body)
    if url.on is not None and body.get("replace_original"):
        posting.change(slack, url.on, **what)
        return url.on
    thread_ts = body.get("thread_ts") or url.thread_ts
    bot = url.installation.bot
    if body.get("response_type") == "in_channel":
        return posting.post(slack, url.place, bot, thread_ts=thread_ts, **what)
    return posting.whisper(slack, url.place, bot, url.person, thread_ts=thread_ts, **what)


def _remove(slack: Platform, post: Post) -> None:
    if post.only_for is None:
        posting.delete(slack, post)
        return
    post.channel.shown.remove(post)
    post.deleted = True
    slack.feed.notify(noticed=True)
