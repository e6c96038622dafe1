"""chat.postEphemeral."""

from tests.slack_workspace import posting
from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.content import content
from tests.slack_workspace.methods.places import postable
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Json


def post_ephemeral(slack: Platform, call: Call) -> Json:
    place = postable(slack, call, call.text("channel"))
    reader = slack.world.accounts.get(call.text("user"))
    if reader is None or not place.has(reader.id):
        raise Refusal("user_not_in_channel")
    what = content(call.args)
    post = posting.whisper(slack, place, call.bot, reader, thread_ts=call.text("thread_ts") or None, **what)
    return {"message_ts": post.ts}
