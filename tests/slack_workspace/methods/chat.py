"""chat.postMessage, chat.update, chat.delete, chat.getPermalink."""

from typing import Any

from tests.slack_workspace import posting, shapes
from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.content import check_metadata, content
from tests.slack_workspace.methods.places import own_message, postable, thread_of, visible
from tests.slack_workspace.methods.streams import let_die
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Json, Post

LONGEST_POST = 40_000
LONGEST_UPDATE = 4_000


def post_message(slack: Platform, call: Call) -> Json:
    place = postable(slack, call, call.text("channel"))
    what = content(call.args)
    what["text"] = what["text"][:LONGEST_POST]  # Slack cuts silently: exactly the fault that tests must see
    thread_ts = thread_of(place, call.text("thread_ts"))
    post = posting.post(
        slack,
        place,
        call.bot,
        thread_ts=thread_ts,
        metadata=check_metadata(call.args.get("metadata")),
        broadcast=bool(thread_ts and call.flag("reply_broadcast")),
        subtype="thread_broadcast" if thread_ts and call.flag("reply_broadcast") else None,
        **_manner(call),
        **what,
    )
    return {"channel": place.id, "ts": post.ts, "message": shapes.message(post, host=slack.host, metadata=True)}


def update(slack: Platform, call: Call) -> Json:
    place = visible(slack, call, call.text("channel"))
    post = own_message(place, call.text("ts"), call, "cant_update_message")
    if post.stream:
        let_die(slack, post.stream)
    if post.is_streaming:
        raise Refusal("streaming_state_conflict")
    what = content(call.args, before=post)
    if len(what["text"]) > LONGEST_UPDATE and "markdown_text" not in call.args:
        raise Refusal("msg_too_long")
    if "metadata" in call.args:
        what["metadata"] = check_metadata(call.args["metadata"])
    posting.change(slack, post, **what, **_manner(call))
    return {
        "channel": place.id,
        "ts": post.ts,
        "text": post.text,
        "message": shapes.message(post, host=slack.host, metadata=True),
    }


def delete(slack: Platform, call: Call) -> Json:
    place = visible(slack, call, call.text("channel"))
    post = own_message(place, call.text("ts"), call, "cant_delete_message")
    posting.delete(slack, post)
    return {"channel": place.id, "ts": post.ts}


def get_permalink(slack: Platform, call: Call) -> Json:
    place = visible(slack, call, call.text("channel"))
    post = place.posts.get(call.text("message_ts"))
    if post is None:
        raise Refusal("message_not_found")
    return {"channel": place.id, "permalink": permalink(slack, post)}


def permalink(slack: Platform, post: Post) -> str:
    link = f"{slack.host}archives/{post.channel.id}/p{post.ts.replace('.', '')}"
    return f"{link}?thread_ts={post.thread_ts}&cid={post.channel.id}" if post.thread_ts else link


def _manner(call: Call) -> dict[str, Any]:
    unfurls = call.flag("unfurl_links", default=True) or call.flag("unfurl_media", default=True)
    linked = call.flag("link_names") or call.text("parse") == "full"
    return {"names_linked": linked, "unfurls": unfurls}
