"""assistant.threads.* and agents.sessions.*: what an agent shows beside its thread."""

from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.methods.places import visible
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.sessions import STATES
from tests.slack_workspace.world import Conversation, Json

MOST_LOADING_MESSAGES = 10
MOST_PROMPTS = 4


def set_status(slack: Platform, call: Call) -> Json:
    place, thread_ts = _thread(slack, call)
    loading = call.args.get("loading_messages") or []
    if not isinstance(loading, list) or len(loading) > MOST_LOADING_MESSAGES:
        raise Refusal("invalid_arguments", "[ERROR] no more than 10 loading_messages")
    slack.sessions.set_status(place.id, thread_ts, call.text("status"), loading)
    slack.feed.notify(noticed=True)
    return {}


def set_title(slack: Platform, call: Call) -> Json:
    place, thread_ts = _thread(slack, call)
    slack.sessions.of(place.id, thread_ts).title = call.text("title")
    return {}


def set_prompts(slack: Platform, call: Call) -> Json:
    place = visible(slack, call, call.text("channel_id"))
    prompts = call.args["prompts"]
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= MOST_PROMPTS:
        raise Refusal("invalid_arguments", f"[ERROR] 1 to {MOST_PROMPTS} prompts")
    if not all(isinstance(p, dict) and p.get("title") and p.get("message") for p in prompts):
        raise Refusal("invalid_arguments", "[ERROR] a prompt needs title and message")
    slack.sessions.of(place.id, call.text("thread_ts")).prompts = prompts
    slack.feed.notify(noticed=True)
    return {}


def set_session(slack: Platform, call: Call) -> Json:
    place, thread_ts = _thread(slack, call)
    if call.text("status") not in STATES:
        raise Refusal("invalid_status")
    title = call.text("title")
    session = slack.sessions.set_state(place.id, thread_ts, call.text("status"))
    session.title = session.title or title
    slack.feed.notify(noticed=True)
    shape: Json = {"status": session.state, "title": session.title}
    if "agent_session_stopped" not in call.app.manifest.events:
        shape["warning"] = "missing_agent_session_stopped_event_subscription"
    return shape


def rename_session(slack: Platform, call: Call) -> Json:
    place, thread_ts = _thread(slack, call)
    slack.sessions.of(place.id, thread_ts).title = call.text("title")
    return {"title": call.text("title")}


def _thread(slack: Platform, call: Call) -> tuple[Conversation, str]:
    place = visible(slack, call, call.text("channel_id"))
    if not place.has(call.bot.id):
        raise Refusal("channel_not_found")
    thread_ts = call.text("thread_ts")
    if thread_ts not in place.posts:
        raise Refusal("invalid_thread_ts")
    return place, thread_ts
