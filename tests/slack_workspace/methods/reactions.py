"""reactions.add and reactions.remove."""

from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.methods.places import visible
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Json, Post


def add(slack: Platform, call: Call) -> Json:
    post = _message(slack, call)
    who = post.reactions.setdefault(call.text("name"), [])
    if call.bot.id in who:
        raise Refusal("already_reacted")
    who.append(call.bot.id)
    slack.feed.notify(noticed=True)
    return {}


def remove(slack: Platform, call: Call) -> Json:
    post = _message(slack, call)
    who = post.reactions.get(call.text("name"), [])
    if call.bot.id not in who:
        raise Refusal("no_reaction")
    who.remove(call.bot.id)
    if not who:
        del post.reactions[call.text("name")]
    slack.feed.notify(noticed=True)
    return {}


def _message(slack: Platform, call: Call) -> Post:
    if not call.text("channel") or not call.text("timestamp"):
        raise Refusal("no_item_specified")
    if not call.text("name").replace("_", "").replace("-", "").replace("+", "").isalnum():
        raise Refusal("invalid_name")
    place = visible(slack, call, call.text("channel"))
    if place.archived:
        raise Refusal("is_archived")
    post = place.posts.get(call.text("timestamp"))
    if post is None:
        raise Refusal("message_not_found")
    return post
