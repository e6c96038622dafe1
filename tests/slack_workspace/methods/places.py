"""Finds the conversation, message or person that a call names, or refuses as Slack does."""

from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import SLACKBOT, Account, Conversation, Json, Post


def visible(slack: Platform, call: Call, channel: str) -> Conversation:
    """A conversation that the app's bot can know of: public ones of its team, and those it is in."""
    place = slack.world.conversations.get(channel)
    if place is None or place.team is not call.by.team:
        raise Refusal("channel_not_found")
    if place.is_private and not place.has(call.bot.id):
        raise Refusal("channel_not_found")
    return place


def postable(slack: Platform, call: Call, channel: str) -> Conversation:
    """A conversation that the bot may post in; a person's id stands for the DM with them."""
    person = slack.world.accounts.get(channel)
    if person is not None and person.team is call.by.team and not person.is_bot:
        return slack.world.direct(call.by.team, [call.bot.id, person.id])
    place = visible(slack, call, channel)
    if place.archived:
        raise Refusal("is_archived")
    if not place.has(call.bot.id):
        raise Refusal("not_in_channel")
    return place


def thread_of(place: Conversation, thread_ts: str) -> str | None:
    """The thread that a post goes to. A reply's ts opens a thread that nobody sees: Slack does not mend it."""
    if not thread_ts:
        if place.limits_threads:
            raise Refusal("restricted_action_thread_only_channel")
        return None
    root = place.posts.get(thread_ts)
    if root is None:
        raise Refusal("thread_not_found")
    if root.subtype in {"channel_join", "channel_leave"}:
        raise Refusal("cannot_reply_to_message")
    return thread_ts


def own_message(place: Conversation, ts: str, call: Call, refusal: str) -> Post:
    post = place.posts.get(ts)
    if post is None:
        raise Refusal("message_not_found")
    if post.author is not call.bot:
        raise Refusal(refusal)
    return post


def person(slack: Platform, call: Call, user: str) -> Account:
    account = slack.world.accounts.get(user)
    if account is None or (account.team is not call.by.team and not account.is_stranger and account.id != SLACKBOT):
        raise Refusal("user_not_found")
    return account


def page(call: Call, items: list[Json], *, most: int, usual: int = 100) -> tuple[list[Json], Json]:
    """One page of a list and the cursor of the next."""
    limit = min(call.number("limit", usual), most) or usual
    cursor = call.text("cursor")
    if cursor and not cursor.removeprefix("next:").isdigit():
        raise Refusal("invalid_cursor")
    start = int(cursor.removeprefix("next:")) if cursor else 0
    more = start + limit < len(items)
    return items[start : start + limit], {"response_metadata": {"next_cursor": f"next:{start + limit}" if more else ""}}
