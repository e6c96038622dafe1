"""What is pressed about an expert's answer: it is still right, or it goes; and who wants to hear of an answer later."""

from collections.abc import Mapping
from typing import Any

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond

from bot.experts.answers import Experts
from bot.slack import words
from bot.slack.listeners.interactions import Traces, tell
from bot.slack.listeners.library import Shelf
from bot.slack.views.experts import REMOVE
from bot.traces.wishes import make_wish
from crag_graph.phrases import Phrase

CONFIRMED = Phrase("Thank you. “{question}” keeps its answer.")
REMOVED = Phrase("It is removed: I answer “{question}” without it now.")
NO_LONGER = Phrase("This answer is no longer in the library.")
NOT_YOURS = Phrase("Only its author and admins can decide this.")
NOTED = Phrase("I will tell you in our direct messages as soon as I can answer this from your documents.")
ASKER_ONLY = Phrase(
    "Only the person who asked can be told. Mention me with the question, and you can ask to be told, too."
)

log = structlog.get_logger()


async def on_still_right(
    ack: AsyncAck, body: Mapping[str, Any], respond: AsyncRespond, experts: Experts, shelf: Shelf
) -> None:
    """The press counts once; the message then says what became of it."""
    action, person, team = body["actions"][0], body["user"]["id"], shelf.me.team
    number = str(action.get("value") or "")
    known = await experts.find(int(number), team=team) if number.isdecimal() and len(number) < 19 else None  # noqa: PLR2004 - digits of a bigint
    if known is not None and person != known.author and person not in shelf.admins:
        await ack()
        await tell(respond, NOT_YOURS())
        return
    removes = action["action_id"] == REMOVE
    if known is not None:
        known = await (experts.remove if removes else experts.confirm)(known.document, team=team)
    await ack()
    said = NO_LONGER() if known is None else (REMOVED() if removes else CONFIRMED()).format(question=known.question)
    log.info("expert_answer_decided", team=team, person=person, removed=removes, document=number)
    await respond(text=said, replace_original=True)


async def on_tell_me(ack: AsyncAck, body: Mapping[str, Any], respond: AsyncRespond, traces: Traces) -> None:
    trace, person = str(body["actions"][0].get("value") or ""), body["user"]["id"]
    run = await traces.run_of(trace, body)
    if run is None:
        said = words.GONE()
    else:
        wished = await make_wish(traces.engine, team=traces.me.team, trace=trace, person=person)
        said = NOTED() if wished else ASKER_ONLY()
    await ack()
    await tell(respond, said)
