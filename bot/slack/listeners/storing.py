"""The button under a question that was handed on to people: what they answered becomes an answer of the library."""

from collections.abc import Mapping
from typing import Any

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from bot.experts.answers import Correction, CorrectionError, Experts
from bot.slack import words
from bot.slack.access import space_of
from bot.slack.incoming import Message
from bot.slack.listeners.interactions import Traces, tell
from bot.slack.listeners.keeping import Keeping, open_modal
from bot.slack.text.mrkdwn import escape
from bot.slack.views.blocks import shorten
from bot.slack.views.keeping import notice_view
from bot.slack.views.relay import STORE_LABEL
from bot.slack.views.storing import Answering, store_view, stored_of
from bot.slack.web import SlackError, heard
from bot.traces.reading import Row, find_run
from crag_graph.phrases import Phrase
from crag_graph.services import ServiceError

NOT_NOW = Phrase("It cannot be stored at the moment. Try again shortly.")
ADDED = Phrase("<@{person}> has stored this answer in the library. I answer “{question}” with it from now on.")

log = structlog.get_logger()


async def on_store(  # noqa: PLR0917 - Bolt gives listeners what they name
    ack: AsyncAck,
    body: Mapping[str, Any],
    client: AsyncWebClient,
    respond: AsyncRespond,
    keeping: Keeping,
    traces: Traces,
) -> None:
    """Opens the modal with the newest answer that somebody else than the asker gave in the thread."""
    run = await traces.run_of(str(body["actions"][0].get("value") or ""), body)
    if run is None:
        await ack()
        await tell(respond, words.GONE())
        return
    view = await _view(run, body, keeping)
    await ack()
    await open_modal(client, respond, body, view, name=STORE_LABEL())


async def _view(run: Row, body: Mapping[str, Any], keeping: Keeping) -> dict[str, Any]:
    try:
        frame = await keeping.shelf.request(run["channel"], body["user"]["id"])
    except PermissionError as refusal:
        return notice_view(STORE_LABEL(), str(refusal))
    message: Mapping[str, Any] = body["message"]
    root, called_at = message.get("thread_ts") or message["ts"], message["ts"]
    try:
        answered = await keeping.talk.newest(run["channel"], root, after=called_at, but=run["asker"])
    except SlackError as error:
        log.info("thread_not_read", code=error.code)
        answered = None
    answering = Answering(trace=run["id"], channel=run["channel"], thread=root)
    if answered is None:
        return store_view(answering, run["standalone"] or run["question"], "", author="", where=frame.where)
    answering = Answering(trace=run["id"], channel=run["channel"], thread=root, ts=answered.ts, author=answered.author)
    question = run["standalone"] or run["question"]
    return store_view(answering, question, answered.text, author=answered.name, where=frame.where)


async def on_stored(
    ack: AsyncAck, body: Mapping[str, Any], client: AsyncWebClient, keeping: Keeping, experts: Experts
) -> None:
    """Stored before it is acknowledged: the modal says it where it cannot be. Once more replaces it."""
    answering, question, answer = stored_of(body["view"])
    person, shelf = body["user"]["id"], keeping.shelf
    try:
        await shelf.request(answering.channel, person)
        run = await find_run(experts.engine, answering.trace, team=shelf.me.team)
        await experts.correct(await _correction(answering, question, answer, keeping, person, known=run is not None))
    except (CorrectionError, PermissionError) as refusal:
        await ack(response_action="errors", errors={"answer": str(refusal).replace("`", "")})  # plain text
        return
    except ServiceError:
        await ack(response_action="errors", errors={"answer": NOT_NOW()})
        return
    await ack()
    said = ADDED(person=person, question=escape(shorten(question)))
    await heard(client.chat_postMessage(channel=answering.channel, thread_ts=answering.thread, text=said))


async def _correction(
    answering: Answering, question: str, answer: str, keeping: Keeping, person: str, *, known: bool
) -> Correction:
    """Whoever answered is the author; where nobody had answered yet, whoever stores it. `known`: not forgotten since."""
    me, author = keeping.shelf.me, answering.author or person
    names = await keeping.shelf.directory.names([author])
    ts = answering.ts or answering.thread
    said = Message(team=me.team, channel=answering.channel, ts=ts, thread=answering.thread, user=author, text="")
    return Correction(
        team=me.team,
        space=space_of(me.team, answering.channel),
        question=question,
        answer=answer,
        author=author,
        author_name=names.get(author, ""),
        run=answering.trace if known else "",
        link=said.permalink(me),
    )
