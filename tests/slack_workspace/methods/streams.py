"""chat.startStream, chat.appendStream, chat.stopStream: a message that grows in front of its reader."""

from typing import Any

from tests.slack_workspace import posting, shapes
from tests.slack_workspace.block_ids import named
from tests.slack_workspace.blocks import check_message
from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.content import LONGEST_MARKDOWN, check_metadata
from tests.slack_workspace.methods.places import person, postable, visible
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.sessions import STATES
from tests.slack_workspace.world import Conversation, Json, Kind, Post, Stream

STATUSES = frozenset({"pending", "in_progress", "complete", "error"})


def start(slack: Platform, call: Call) -> Json:
    place = postable(slack, call, call.text("channel"))
    root = place.posts.get(call.text("thread_ts"))
    if root is None:
        raise Refusal("thread_not_found")
    _check_recipient(slack, call, place)
    if call.text("task_display_mode", "timeline") not in {"timeline", "plan", "dense"}:
        raise Refusal("invalid_arguments", "[ERROR] task_display_mode must be timeline or plan")
    stream = Stream(started=slack.clock.now(), recipient=call.text("recipient_user_id") or None)
    text = _take(stream, call, "")
    post = posting.post(slack, place, call.bot, text, thread_ts=call.text("thread_ts"), stream=stream)
    return {"channel": place.id, "ts": post.ts}


def append(slack: Platform, call: Call) -> Json:
    post, stream = _streaming(slack, call)
    if not call.args.get("markdown_text") and not call.args.get("chunks"):
        raise Refusal("no_text")
    text = _take(stream, call, post.text)
    stream.appends += 1
    post.text = text
    post.versions += 1
    slack.feed.notify(noticed=True)
    return {"channel": post.channel.id, "ts": post.ts}


def stop(slack: Platform, call: Call) -> Json:
    post, stream = _streaming(slack, call)
    blocks: list[Json] = call.args.get("blocks") or []
    check_message(blocks)
    what: dict[str, Any] = {"text": _take(stream, call, post.text), "blocks": named(blocks)}
    if not what["text"] and not blocks and not stream.tasks:
        raise Refusal("no_text")
    if metadata := check_metadata(call.args.get("metadata")):
        what["metadata"] = metadata
    if call.text("session_status", "active") not in STATES:
        raise Refusal("invalid_arguments", "[ERROR] unknown session_status")
    stream.ended = "message_not_in_streaming_state"
    posting.change(slack, post, is_edit=False, **what)
    if state := call.text("session_status"):
        slack.sessions.set_state(post.channel.id, post.root, state)
    return {
        "channel": post.channel.id,
        "ts": post.ts,
        "message": shapes.message(post, host=slack.host, metadata=True),
    }


def _streaming(slack: Platform, call: Call) -> tuple[Post, Stream]:
    place = visible(slack, call, call.text("channel"))
    post = place.posts.get(call.text("ts"))
    if post is None:
        raise Refusal("message_not_found")
    if post.author is not call.bot:
        raise Refusal("message_not_owned_by_app")
    if post.stream is None:
        raise Refusal("message_not_in_streaming_state")
    let_die(slack, post.stream)
    if post.stream.ended:
        raise Refusal(post.stream.ended)
    return post, post.stream


def let_die(slack: Platform, stream: Stream) -> None:
    """A stream ends by itself when its time is over; the message stays and can be updated."""
    too_old = slack.clock.now() - stream.started > slack.timing.stream_lives
    too_many = slack.stream_appends is not None and stream.appends >= slack.stream_appends
    if too_old or too_many:
        stream.ended = stream.ended or "message_not_in_streaming_state"


def _check_recipient(slack: Platform, call: Call, place: Conversation) -> None:
    if place.kind is Kind.DM:
        return
    if not call.text("recipient_user_id"):
        raise Refusal("missing_recipient_user_id")
    if not call.text("recipient_team_id"):
        raise Refusal("missing_recipient_team_id")
    person(slack, call, call.text("recipient_user_id"))


def _take(stream: Stream, call: Call, text: str) -> str:
    """The text so far with what this call brings; tasks and plan go to the stream."""
    for chunk in _chunks(call):
        match chunk.get("type"):
            case "markdown_text":
                text += str(chunk.get("text", ""))
            case "task_update":
                _take_task(stream, chunk)
            case "plan_update":
                stream.plan = str(chunk.get("title", ""))
            case _:
                raise Refusal("invalid_chunks", f"[ERROR] unsupported chunk: {chunk.get('type')}")
    return text


def _chunks(call: Call) -> list[Json]:
    markdown, chunks = call.args.get("markdown_text"), call.args.get("chunks") or []
    if markdown and chunks:
        raise Refusal("invalid_chunks", "[ERROR] markdown_text and chunks exclude each other")
    if not isinstance(chunks, list) or not all(isinstance(chunk, dict) for chunk in chunks):
        raise Refusal("invalid_chunks")
    taken: list[Json] = [{"type": "markdown_text", "text": markdown}] if markdown else chunks
    if sum(len(str(c.get("text", ""))) for c in taken if c.get("type") == "markdown_text") > LONGEST_MARKDOWN:
        raise Refusal("msg_too_long")
    return taken


def _take_task(stream: Stream, chunk: Json) -> None:
    if not chunk.get("id") or not chunk.get("title") or chunk.get("status") not in STATUSES:
        raise Refusal("invalid_chunks", "[ERROR] a task_update needs id, title and a known status")
    stream.tasks[chunk["id"]] = {**stream.tasks.get(chunk["id"], {}), **chunk}
