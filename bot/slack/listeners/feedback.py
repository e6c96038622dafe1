"""Whether an answer helped: the vote counts as soon as it is given, the reason is asked for afterwards."""

from collections.abc import Mapping
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack import words
from bot.slack.listeners.interactions import Traces, opened, tell
from bot.slack.views.offers import HELPFUL
from bot.slack.views.reason import reason_gone_view, reason_of, reason_view
from bot.traces.feedback import give_feedback
from crag_graph.phrases import Phrase

THANKS = Phrase("Thank you, that is noted with the answer.")
THANKS_ANYWAY = Phrase("Thank you, that is noted with the answer. To say why it did not help, press the button again.")


async def on_feedback(
    ack: AsyncAck,
    body: Mapping[str, Any],
    client: AsyncWebClient,
    respond: AsyncRespond,
    traces: Traces,
) -> None:
    verdict, _, trace = str(body["actions"][0].get("value") or "").partition(":")
    helpful, person = verdict == HELPFUL, body["user"]["id"]
    known = await traces.run_of(trace, body) is not None and await give_feedback(
        traces.engine, team=traces.me.team, trace=trace, person=person, helpful=helpful
    )
    await ack()
    if not known:
        await tell(respond, words.GONE())
    elif helpful or not await opened(client, body, reason_view(trace)):
        await tell(respond, THANKS() if helpful else THANKS_ANYWAY())


async def on_reason(ack: AsyncAck, body: Mapping[str, Any], view: Mapping[str, Any], traces: Traces) -> None:
    """Why an answer did not help; leaving it empty changes nothing."""
    trace, note = reason_of(view)
    known = not note or await give_feedback(
        traces.engine, team=traces.me.team, trace=trace, person=body["user"]["id"], helpful=False, note=note
    )
    if known:
        await ack()
    else:
        await ack(response_action="update", view=reason_gone_view(words.GONE()))
