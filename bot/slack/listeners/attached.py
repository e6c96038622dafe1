"""The button that keeps files in the library which came with a question, after a look at who will find them there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.documents.ingesting import Request
from bot.slack.incoming import Me
from bot.slack.listeners.interactions import tell
from bot.slack.listeners.keeping import may_give, open_modal
from bot.slack.listeners.library import Shelf
from bot.slack.views.attached import (
    FILES_BLOCK,
    KEPT,
    NOTHING_LEFT,
    READ_WHOLE,
    KeptFiles,
    chosen_files,
    files_view,
    listed,
)
from bot.slack.views.keeping import notice_view
from bot.slack.views.offers import KEEP_LABEL
from crag_graph.knowledge.documents import StoredDocument


async def on_keep_files(
    ack: AsyncAck,
    body: Mapping[str, Any],
    client: AsyncWebClient,
    respond: AsyncRespond,
    shelf: Shelf,
) -> None:
    """Opens the modal; a trigger lives for three seconds. Raises LibraryError."""
    conversation = str(body["actions"][0].get("value") or "")
    mine = _may_see(conversation, body, shelf.me)
    documents = await shelf.attached.documents(conversation) if mine else ()
    view = await _view(documents, conversation, body, shelf) if documents else None
    await ack()
    if view is None:
        await tell(respond, NOTHING_LEFT())
    else:
        await open_modal(client, respond, body, view, name=KEEP_LABEL())


def _may_see(conversation: str, body: Mapping[str, Any], me: Me) -> bool:
    """Whoever is where the conversation is; what was answered privately is its asker's own."""
    team, channel, *rest = (*conversation.split(":"), "", "")
    person = f"private-{body['user']['id']}"
    owned = [part for part in rest if part.startswith("private-")]
    return team == me.team and (owned == [person] if owned else channel == (body.get("channel") or {}).get("id"))


async def _view(
    documents: Sequence[StoredDocument], conversation: str, body: Mapping[str, Any], shelf: Shelf
) -> dict[str, Any]:
    user, channel = body["user"]["id"], _channel(conversation)
    try:
        request = await shelf.request(channel, user)
    except PermissionError as refusal:
        return notice_view(KEEP_LABEL(), str(refusal))
    return files_view(
        documents,
        conversation,
        thread=conversation.split(":")[2],
        response_url=body.get("response_url") or "",
        where=request.where,
        may_give=may_give(await shelf.directory.place(channel), user, shelf),
    )


async def on_files_kept(ack: AsyncAck, body: Mapping[str, Any], shelf: Shelf) -> None:
    """Raises LibraryError, InboxError or QueueError: then the modal stays, and Slack says that it did not work."""
    kept, user = chosen_files(body["view"]), body["user"]["id"]
    try:
        frame = await shelf.request(_channel(kept.conversation), user, for_everybody=kept.for_everybody)
    except PermissionError as refusal:
        await ack(response_action="errors", errors={FILES_BLOCK: str(refusal)})
        return
    said = await _keep(kept, frame, shelf)
    await ack(response_action="update", view=notice_view(KEEP_LABEL(), said))


async def _keep(kept: KeptFiles, frame: Request, shelf: Shelf) -> str:
    """What is to be said of it. What was read whole moves; what was not is read once more, and whole."""
    there = [one for one in await shelf.attached.documents(kept.conversation) if one.source in kept.sources]
    moved = await shelf.attached.keep(kept.conversation, kept.sources, space=frame.space, by=frame.user)
    cut = [one for one in there if one.left_out]
    for one in cut:
        await shelf.put(
            replace(
                frame,
                file=one.source,
                title=one.title,
                thread=kept.thread,
                response_url=kept.response_url,
                conversation=kept.conversation,
            )
        )
    said = [
        *([KEPT(names=listed(one.title for one in moved), where=frame.where)] if moved else []),
        *([READ_WHOLE(names=listed(one.title for one in cut))] if cut else []),
    ]
    return "\n\n".join(said) or NOTHING_LEFT()


def _channel(conversation: str) -> str:
    return conversation.split(":")[1]
