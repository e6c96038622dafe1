"""What people press under an answer to look behind it: how it came about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.slack import words
from bot.slack.access import is_member
from bot.slack.directory import Directory
from bot.slack.incoming import Me
from bot.slack.views.modal import how_view
from bot.slack.web import SlackRefusedError, heard
from bot.traces.reading import Row, Trace, find_run, show_trace
from crag_graph.phrases import Phrase

log = structlog.get_logger()

MEMBERS_ONLY = Phrase("How this answer came about is shown to its asker and to members of the workspace alone.")
PRESS_AGAIN = Phrase("That took too long for Slack. Press the button again.")


@dataclass(frozen=True, kw_only=True)
class Traces:
    """What buttons need to find the trace of an answer."""

    engine: AsyncEngine
    me: Me
    directory: Directory

    async def of(self, trace: str, body: Mapping[str, Any]) -> Trace | None:
        """The trace, where the button stands in the place that it belongs to and its texts are still there."""
        found = await show_trace(self.engine, trace, team=self.me.team)
        return found if found and not found.run["erased_at"] and _belongs(found.run, body) else None

    async def run_of(self, trace: str, body: Mapping[str, Any]) -> Row | None:
        """The same without its steps."""
        run = await find_run(self.engine, trace, team=self.me.team)
        return run if run and _belongs(run, body) else None

    async def may_look(self, trace: Trace, user: str) -> bool:
        """A guest may read an answer in a channel, but not what else of the library was looked at for it."""
        return trace.run["asker"] == user or is_member(self.me.team, await self.directory.person(user))


def _belongs(run: Row, body: Mapping[str, Any]) -> bool:
    """Where it was asked; a private answer may have come to its asker's direct messages."""
    here = (body.get("channel") or {}).get("id")
    return bool(run["channel"] == here or run["asker"] == body["user"]["id"])


async def on_how(
    ack: AsyncAck, action: Mapping[str, Any], body: Mapping[str, Any], client: AsyncWebClient, traces: Traces
) -> None:
    trace = await traces.of(str(action.get("value") or ""), body)
    if trace is None:
        view = _notice(words.GONE())
    elif not await traces.may_look(trace, body["user"]["id"]):
        view = _notice(MEMBERS_ONLY())
    else:
        view = how_view(trace)
    await ack()
    if not await opened(client, body, view):
        channel, user = body["channel"]["id"], body["user"]["id"]
        await heard(client.chat_postEphemeral(channel=channel, user=user, text=PRESS_AGAIN()))


async def opened(client: AsyncWebClient, body: Mapping[str, Any], view: Mapping[str, Any]) -> bool:
    """Opens a modal; False where Slack does not take it, most often because the press is too long ago."""
    try:
        await heard(client.views_open(trigger_id=body["trigger_id"], view=dict(view)))
    except SlackRefusedError as refused:
        log.info("modal_refused", code=refused.code)
        return False
    return True


async def tell(respond: AsyncRespond, text: str) -> None:
    """Says something to whoever pressed, and to nobody else."""
    answer = await respond(text=text, response_type="ephemeral", replace_original=False)
    if answer.status_code != 200:  # noqa: PLR2004 - HTTP
        log.info("not_told", status=answer.status_code)


def _notice(text: str) -> dict[str, Any]:
    return {
        "type": "modal",
        "title": {"type": "plain_text", "text": words.HOW()},
        "close": {"type": "plain_text", "text": words.CLOSE()},
        "blocks": [{"type": "section", "text": {"type": "plain_text", "text": text}}],
    }
