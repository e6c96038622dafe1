"""The message shortcut that adds a message, its thread or its file to the library, after a look at what is stored."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.directory import Place
from bot.slack.documents.talk import Talk
from bot.slack.incoming import Kind, Me, Message
from bot.slack.listeners.interactions import tell
from bot.slack.listeners.library import Shelf
from bot.slack.text.mrkdwn import clean
from bot.slack.views.keeping import (
    CHANGED,
    EMPTY,
    MESSAGE,
    MOST_CHARACTERS,
    THREAD,
    TITLE,
    TOO_LONG,
    Draft,
    Kept,
    draft_of,
    keep_view,
    kept_of,
    notice_view,
    redrafted,
    shown_text,
    title_block,
)
from bot.slack.web import SlackError, SlackRefusedError, heard
from crag_graph.phrases import Phrase

log = structlog.get_logger()

OURS = Phrase("This is a message of mine. Add the documents that it names as its sources, not what I made of them.")
NO_MEMBER = Phrase("I cannot read the thread: I am not a member here. Invite me, or add the message alone.")
NOT_READ = {
    "not_in_channel": NO_MEMBER,
    "channel_not_found": NO_MEMBER,
    "thread_not_found": Phrase("The thread is gone. Add the message alone."),
}
TOO_LATE = Phrase("That took too long, and Slack closed the way to the window. Choose “{name}” again.")
NOT_READ_NOW = Phrase("Slack does not give me the text at the moment. Choose again in a moment.")


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """What it takes to store what was said in Slack."""

    shelf: Shelf
    talk: Talk


async def on_keep(
    ack: AsyncAck,
    body: Mapping[str, Any],
    client: AsyncWebClient,
    respond: AsyncRespond,
    keeping: Keeping,
) -> None:
    """Opens the modal; a trigger lives for three seconds."""
    view = await _first_view(body, keeping)
    await ack()
    await open_modal(client, respond, body, view, name=TITLE.english)


async def open_modal(
    client: AsyncWebClient, respond: AsyncRespond, body: Mapping[str, Any], view: Mapping[str, Any], *, name: str
) -> None:
    """Opens the window of the button or shortcut `name`, or tells the person that it came too late.

    A shortcut has its name from the manifest, in English: so Slack's menu says it to everybody.
    """
    try:
        await heard(client.views_open(trigger_id=body["trigger_id"], view=dict(view)))
    except SlackRefusedError as refused:
        log.info("modal_refused", code=refused.code)
        await tell(respond, TOO_LATE(name=name))


async def _first_view(body: Mapping[str, Any], keeping: Keeping) -> dict[str, Any]:
    message: Mapping[str, Any] = body["message"]
    if keeping.talk.is_ours(message):
        return notice_view(TITLE(), OURS())
    text = await keeping.talk.text(message)
    draft = _draft(body, message)
    if not text and draft.files:
        draft = replace(draft, what=draft.files[0][0])
    elif not text and not draft.thread:
        return notice_view(TITLE(), EMPTY())
    return await _view(draft, text or EMPTY(), body["user"]["id"], keeping.shelf)


def _draft(body: Mapping[str, Any], message: Mapping[str, Any]) -> Draft:
    return Draft(
        channel=body["channel"]["id"],
        ts=message["ts"],
        thread=message.get("thread_ts") or "",
        author=message.get("user") or "",
        files=tuple(
            (one["id"], clean(one.get("name") or one.get("title") or one["id"])[:100])
            for one in message.get("files") or ()
            if one.get("id")
        )[:8],
        response_url=body.get("response_url") or "",
    )


async def _view(draft: Draft, text: str, user: str, shelf: Shelf, notice: str = "") -> dict[str, Any]:
    place = await shelf.directory.place(draft.channel)
    try:
        request = await shelf.request(draft.channel, user)
    except PermissionError as refusal:
        return notice_view(TITLE(), str(refusal))
    return keep_view(draft, text, where=request.where, may_give=may_give(place, user, shelf), notice=notice)


def may_give(place: Place, user: str, shelf: Shelf) -> bool:
    return user in shelf.admins and place.kind is Kind.CHANNEL and not place.shared


async def on_what(ack: AsyncAck, body: Mapping[str, Any], client: AsyncWebClient, keeping: Keeping) -> None:
    """Another choice of what is stored: the preview follows it."""
    await ack()
    view = body["view"]
    draft = draft_of(view)
    chosen = redrafted(draft, body["actions"][0]["selected_option"]["value"])
    try:
        text, notice = await _text(chosen, keeping.talk), ""
    except SlackError as error:
        log.info("talk_not_read", code=error.code)
        chosen, text = redrafted(chosen, draft.what), shown_text(view)
        notice = NOT_READ.get(error.code, NOT_READ_NOW)()
    if len(text) > MOST_CHARACTERS:
        notice = TOO_LONG(number=len(text), most=MOST_CHARACTERS)
        chosen, text = redrafted(chosen, draft.what), shown_text(view)
    shown = await _view(chosen, text or EMPTY(), body["user"]["id"], keeping.shelf, notice)
    try:
        await heard(client.views_update(view_id=view["id"], hash=view["hash"], view=shown))
    except SlackError as error:
        log.info("modal_not_changed", code=error.code)  # it was closed, or another choice came first


async def _text(draft: Draft, talk: Talk) -> str:
    if draft.file:
        return draft.file
    if draft.what == THREAD:
        return await talk.thread(draft.channel, draft.thread)
    return await talk.find(draft.channel, draft.thread or draft.ts, draft.ts)


async def on_kept(ack: AsyncAck, body: Mapping[str, Any], keeping: Keeping) -> None:
    """Raises InboxError or QueueError: then the modal stays, and Slack says that it did not work."""
    kept = kept_of(body["view"])
    refusal = await _keep(kept, body["user"]["id"], keeping.shelf)
    if refusal:
        await ack(response_action="errors", errors={title_block(kept.draft): refusal.replace("`", "")})  # plain text
    else:
        await ack()


async def _keep(kept: Kept, user: str, shelf: Shelf) -> str:
    """Why it is not stored; empty where it is on its way."""
    draft = kept.draft
    if kept.chosen != draft.what:
        return CHANGED()
    if not draft.file and kept.text.strip() in {"", EMPTY()}:
        return EMPTY()
    try:
        frame = await shelf.request(draft.channel, user, for_everybody=kept.for_everybody)
    except PermissionError as refusal:
        return str(refusal)
    frame = replace(frame, thread=draft.thread or draft.ts, response_url=draft.response_url)
    title = "" if kept.title == draft.file else kept.title
    if draft.file:
        await shelf.put(replace(frame, file=draft.what, title=title))
    else:
        await shelf.put(replace(frame, source=permalink(draft, shelf.me), title=title, text=kept.text))
    return ""


def permalink(draft: Draft, me: Me) -> str:
    """Of the message, or of the root of the thread."""
    ts = draft.ts if draft.what == MESSAGE else draft.thread
    message = Message(team=me.team, channel=draft.channel, ts=ts, thread=draft.thread or ts, user=draft.author, text="")
    return message.permalink(me)
