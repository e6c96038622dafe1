"""What people press under an answer: whether it helped, and how it came about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.slack.access import is_member
from bot.slack.directory import Directory
from bot.slack.incoming import Me
from bot.slack.views.offers import HELPFUL
from bot.slack.views.modal import how_view
from bot.slack.web import SlackRefusedError, heard
from bot.traces.feedback import give_feedback
from bot.traces.reading import Trace, show_trace

log = structlog.get_logger()

THANKS = "Thank you, that is noted with the answer."
GONE = "This answer is no longer known: it was forgotten, or it is too old."
MEMBERS_ONLY = "How this answer came about is shown to its asker and to members of the workspace alone."
PRESS_AGAIN = "That took too long for Slack. Press the button again."


@dataclass(frozen=True, kw_only=True)
class Traces:
    """What buttons need to find the trace of an answer."""

    engine: AsyncEngine
    me: Me
    directory: Directory

    async def of(self, trace: str, body: Mapping[str, Any]) -> Trace | None:
        """The trace, where the button stands in the place that it belongs to and its texts are still there."""
        found = await show_trace(self.engine, trace, team=self.me.team)
        here = (body.get("channel") or {}).get("id")
        return found if found and not found.run["erased_at"] and found.run["channel"] == here else None

    async def may_look(self, trace: Trace, user: str) -> bool:
        """A guest may read an answer in a channel, but not what else of the library was looked at for it."""
        return trace.run["asker"] == user or is_member(self.me.team, await self.directory.person(user))


async def on_feedback(
    ack: AsyncAck, action: Mapping[str, Any], body: Mapping[str, Any], respond: AsyncRespond, traces: Traces
) -> None:
    verdict, _, trace = str(action.get("value") or "").partition(":")
    known = await traces.of(trace, body) is not None and await give_feedback(
        traces.engine, team=traces.me.team, trace=trace, person=body["user"]["id"], helpful=verdict == HELPFUL
    )
    await ack()
    await _tell(respond, THANKS if known else GONE)


async def on_how(
    ack: AsyncAck, action: Mapping[str, Any], body: Mapping[str, Any], client: AsyncWebClient, traces: Traces
) -> None:
    trace = await traces.of(str(action.get("value") or ""), body)
    if trace is None:
        view = _notice(GONE)
    elif not await traces.may_look(trace, body["user"]["id"]):
        view = _notice(MEMBERS_ONLY)
    else:
        view = how_view(trace)
    await ack()
    await _open(client, body, view)


async def _open(client: AsyncWebClient, body: Mapping[str, Any], view: Mapping[str, Any]) -> None:
    try:
        await heard(client.views_open(trigger_id=body["trigger_id"], view=dict(view)))
    except SlackRefusedError as refused:
        log.info("modal_refused", code=refused.code)
        channel, user = body["channel"]["id"], body["user"]["id"]
        await heard(client.chat_postEphemeral(channel=channel, user=user, text=PRESS_AGAIN))


async def _tell(respond: AsyncRespond, text: str) -> None:
    answer = await respond(text=text, response_type="ephemeral", replace_original=False)
    if answer.status_code != 200:  # noqa: PLR2004 - HTTP
        log.info("not_told", status=answer.status_code)


def _notice(words: str) -> dict[str, Any]:
    return {
        "type": "modal",
        "title": {"type": "plain_text", "text": "How I got here"},
        "close": {"type": "plain_text", "text": "Close"},
        "blocks": [{"type": "section", "text": {"type": "plain_text", "text": words}}],
    }
