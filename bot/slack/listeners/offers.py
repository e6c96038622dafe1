"""The buttons that do something more with an answer: asked again, with the web or without, shared, given to people."""

from collections.abc import Mapping
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond

from bot.slack import words
from bot.slack.incoming import Message
from bot.slack.listeners.interactions import Traces, tell
from bot.slack.listeners.taking import Taking
from bot.slack.replies.presses import Press
from bot.slack.views.offers import Offer
from bot.traces.reading import Row
from crag_graph.models.languages import recognise
from crag_graph.phrases import Phrase

NOT_YOURS = Phrase(
    "Only the person who asked can do this. Mention me with the question, and you get an answer of your own."
)
TAKEN = {
    Offer.WEB_TOO: Phrase("I am searching the web too. The new answer comes below."),
    Offer.LIBRARY_ALONE: Phrase("I am answering from your documents alone. The new answer comes below."),
    Offer.AGAIN: Phrase("I am answering the question again. The new answer comes below."),
    Offer.SHARE: Phrase("I am sharing the answer with everybody here."),
    Offer.PERSON: Phrase("I am asking the people whom this channel has chosen."),
}
DONE = Phrase("I have done this already: you find it below. Its own buttons take you further.")


async def on_offer(
    ack: AsyncAck, body: Mapping[str, Any], respond: AsyncRespond, taking: Taking, traces: Traces
) -> None:
    """Raises InboxError or QueueError where the press cannot be stored: then nothing is acknowledged."""
    action = body["actions"][0]
    offer, trace = Offer(action["action_id"]), str(action.get("value") or "")
    run = await traces.run_of(trace, body)
    if run is None:
        said = words.GONE()
    elif run["asker"] != body["user"]["id"]:
        said = NOT_YOURS()
    else:
        said = TAKEN[offer]() if await taking.put(_press(offer, run, body).item) else DONE()
    await ack()
    await tell(respond, said)


def _press(offer: Offer, run: Row, body: Mapping[str, Any]) -> Press:
    container = body["container"]
    thread, _, owner = run["conversation"].split(":", 2)[2].partition(":")
    if offer in {Offer.SHARE, Offer.PERSON}:
        return _for_all(offer, run, container["message_ts"], root="" if thread.startswith("private-") else thread)
    is_private = bool(container.get("is_ephemeral") or owner) or thread.startswith("private-")
    return Press(
        offer=offer,
        trace=run["id"],
        message=Message(
            team=run["team"],
            channel=run["channel"],
            ts=container["message_ts"],
            thread=thread,
            user=run["asker"],
            text="",
            private=bool(owner),
        ),
        language=recognise(run["question"]),
        response_url=body.get("response_url", "") if is_private else "",
    )


def _for_all(offer: Offer, run: Row, ts: str, *, root: str) -> Press:
    """What is posted for everybody: in the thread where it was asked, or in the channel itself."""
    message = Message(team=run["team"], channel=run["channel"], ts=ts, thread=root, user=run["asker"], text="")
    return Press(offer=offer, trace=run["id"], message=message, language=recognise(run["question"]))
