"""Questions that are edited, deleted or stopped after they were asked."""

from collections.abc import Mapping
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond

from bot.inbox import Inbox, Place
from bot.slack import words
from bot.slack.incoming import Me, files_of, private_conversation
from bot.slack.listeners.interactions import tell
from bot.slack.listeners.library import Shelf
from bot.slack.listeners.taking import Taking
from bot.slack.replies.second_thoughts import Edit, again, edited_message, to_offer
from crag_graph.phrases import Phrase

NOT_YOURS = Phrase("Only the person who asked can stop this.")
STOPPING = Phrase("I am stopping.")
TOO_LATE = Phrase("That answer is finished already.")
ANSWERING = Phrase("I am answering the question as it reads now. The answer comes in its thread.")
ANSWERED = Phrase("I have answered the edited question already: you find the answer in its thread.")


LATE = 3_600.0
"""Seconds after which an event is not expected any more that another one has overtaken."""


async def on_changed(event: Mapping[str, Any], me: Me, inbox: Inbox, taking: Taking, shelf: Shelf) -> None:
    """Raises InboxError, QueueError or LibraryError: then Slack sends it again."""
    if (event.get("message") or {}).get("subtype") == "tombstone":  # a deleted message that has replies
        await _withdraw(event, event["message"]["ts"], shelf)
        return
    edit = Edit.read(event)
    if edit is None or edit.user == me.user:
        return
    asked = await inbox.revise(Place(team=me.team, channel=edit.channel, ts=edit.ts, person=edit.user), edit.text)
    if asked and asked.done and edit.is_soon:
        await taking.put(to_offer(edit, me.team, asked.conversation))


async def on_deleted(event: Mapping[str, Any], shelf: Shelf) -> None:
    """Raises InboxError or LibraryError: then Slack sends it again."""
    await _withdraw(event, event.get("deleted_ts") or "", shelf)


async def _withdraw(event: Mapping[str, Any], ts: str, shelf: Shelf) -> None:
    """Whoever takes a message back takes its files back, too, unless they are kept in the library."""
    me, channel = shelf.me, event["channel"]
    before: Mapping[str, Any] = event.get("previous_message") or {}
    by_a_person = bool(before.get("user")) and before.get("user") != me.user and not before.get("bot_id")
    is_new = by_a_person and float(event.get("event_ts") or event["ts"]) - float(ts) <= LATE
    await shelf.inbox.withdraw(Place(team=me.team, channel=channel, ts=ts), may_still_come=is_new)
    if files := [file for file, _ in files_of(before)]:
        shared = f"{me.team}:{channel}:{before.get('thread_ts') or ts}"
        for conversation in (shared, private_conversation(shared, before.get("user") or "")):
            await shelf.attached.drop(conversation, files)


async def on_answer_edited(
    ack: AsyncAck, body: Mapping[str, Any], respond: AsyncRespond, inbox: Inbox, taking: Taking
) -> None:
    message, edited = edited_message(body["actions"][0]["value"], body)
    asked = await inbox.concerned(Place(team=message.team, channel=message.channel, ts=message.ts, person=message.user))
    said = words.GONE()
    if asked:
        said = ANSWERING() if await taking.put(again(message, edited, asked.conversation)) else ANSWERED()
    await ack()
    await tell(respond, said)


async def on_stop_pressed(ack: AsyncAck, body: Mapping[str, Any], respond: AsyncRespond, me: Me, inbox: Inbox) -> None:
    """The Stop button of a message that is edited while the answer is made, or of a private answer."""
    ts = str(body["actions"][0].get("value") or "")
    place = Place(team=me.team, channel=body["channel"]["id"], ts=ts, person=body["user"]["id"])
    stopped = await inbox.stop_one(place)
    await ack()
    await tell(respond, NOT_YOURS() if stopped is None else TOO_LATE() if stopped.done else STOPPING())
