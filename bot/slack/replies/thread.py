"""One reply's messages in a thread: each is posted once, changed in place, and found again after a crash."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.inbox import Claim, Inbox
from bot.slack.incoming import Me, Message
from bot.slack.views.blocks import Post
from bot.slack.web import SlackAwayError, SlackBusyError, SlackRefusedError, Web, heard

log = structlog.get_logger()

EVENT_TYPE = "crag_reply"
TRIES = 5
LONGEST_WAIT = 120.0
"""Seconds that Slack may tell us to wait for a post before it is given up for now."""

TOO_MUCH = frozenset(
    {
        "invalid_blocks",
        "invalid_blocks_format",
        "msg_blocks_too_long",
        "msg_blocks_too_many",
        "msg_too_long",
        "block_mismatch",
        "invalid_arguments",
        "invalid_attachments",
        "no_text",
    }
)
"""What Slack says when it does not like a message, not its place."""
GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "message_not_owned_by_app"})
"""What Slack says when a message cannot be changed any more."""


@dataclass(frozen=True, kw_only=True)
class Thread:
    """Where a reply goes. `mark` is opaque: it marks the messages of this reply, for every app to read."""

    web: Web
    me: Me
    channel: str
    root: str
    """The ts of the thread's root; empty where the reply stands in the channel itself."""
    question: str
    """The ts of the message that is replied to."""
    mark: uuid.UUID

    async def post(self, post: Post, part: int) -> str:
        """Posts a part of the reply and returns its ts. Where the outcome is in doubt it looks before it posts again.

        Raises SlackRefusedError, or SlackAwayError when it has tried for long.
        """
        waited = 0.0
        for attempt in range(TRIES):
            try:
                sent = await heard(
                    self.web.hasty.chat_postMessage(
                        channel=self.channel,
                        thread_ts=self.root or None,
                        text=post.text,
                        blocks=post.blocks or None,
                        metadata=self.metadata(part),
                        unfurl_links=False,
                        unfurl_media=False,
                    )
                )
                return str(sent["ts"])
            except SlackBusyError as busy:
                waited += busy.wait
                if waited > LONGEST_WAIT:
                    raise SlackAwayError(busy.code) from busy
                await asyncio.sleep(busy.wait)
            except SlackAwayError:
                await asyncio.sleep(0.5 * 2**attempt)
                if found := (await self.find()).get(part):
                    return found
        raise SlackAwayError("not_posted")

    async def change(self, ts: str, post: Post, part: int | None = None) -> None:
        """Gives a message this content; the last word is always sent, however long Slack makes us wait."""
        await self._change(self.web.patient, ts, self._content(post, part))

    async def try_change(self, ts: str, post: Post) -> None:
        """The same for progress: not worth waiting for."""
        await self._change(self.web.hasty, ts, self._content(post, None))

    async def remove(self, ts: str) -> None:
        try:
            await heard(self.web.patient.chat_delete(channel=self.channel, ts=ts))
        except SlackRefusedError as refused:
            if refused.code != "message_not_found":
                raise

    async def retract(self, ts: str) -> None:
        """Takes a message back that may still be streamed."""
        await self._end_stream(ts)
        await self.remove(ts)

    async def find(self, *, known: Collection[str] = (), orphans: bool = False) -> dict[int, str]:
        """The ts of what stands in the thread for this reply, by part.

        With `orphans`, also what was posted without a mark and is not `known` to belong to another reply: a stream
        that was begun and cut off has no mark yet. Nothing where Slack does not let us look.
        """
        found: dict[int, str] = {}
        try:
            async for message in self._after_the_question():
                payload = _payload(message)
                if payload.get("id") == self.mark.hex:
                    found.setdefault(int(payload.get("part", 0)), message["ts"])
                elif orphans and not message.get("metadata") and message["ts"] not in known:
                    found.setdefault(0, message["ts"])
        except SlackRefusedError as refused:
            log.warning("thread_not_read", code=refused.code)
        return found

    def metadata(self, part: int) -> dict[str, Any]:
        return {"event_type": EVENT_TYPE, "event_payload": {"id": self.mark.hex, "part": part}}

    async def _after_the_question(self) -> AsyncIterator[Mapping[str, Any]]:
        cursor = ""
        while True:
            page = await heard(self._page(cursor or None))
            for message in page.get("messages", ()):
                if message.get("user") == self.me.user and message["ts"] > self.question:
                    yield message
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return

    def _page(self, cursor: str | None) -> Awaitable[AsyncSlackResponse]:
        client = self.web.patient
        what: dict[str, Any] = {
            "channel": self.channel,
            "oldest": self.question,
            "include_all_metadata": True,
            "limit": 200,
        }
        if self.root:
            return client.conversations_replies(ts=self.root, cursor=cursor, **what)
        return client.conversations_history(cursor=cursor, **what)

    async def _change(self, client: AsyncWebClient, ts: str, content: dict[str, Any]) -> None:
        try:
            await heard(client.chat_update(channel=self.channel, ts=ts, **content))
        except SlackRefusedError as refused:
            if refused.code != "streaming_state_conflict":
                raise
            await self._end_stream(ts)
            await heard(client.chat_update(channel=self.channel, ts=ts, **content))

    async def _end_stream(self, ts: str) -> None:
        """An earlier attempt was cut off while it streamed; what is streamed cannot be changed."""
        for text in (None, "…"):  # a stream in which nothing stands cannot be ended with nothing
            try:
                await heard(self.web.patient.chat_stopStream(channel=self.channel, ts=ts, markdown_text=text))
            except SlackRefusedError as refused:
                if refused.code != "no_text":
                    return
            else:
                return

    def _content(self, post: Post, part: int | None) -> dict[str, Any]:
        marked = {} if part is None else {"metadata": self.metadata(part)}
        return {"text": post.text, "blocks": list(post.blocks), **marked}


def thread_of(claim: Claim, message: Message, *, web: Web, me: Me) -> Thread:
    """Where the reply to a message goes that a claim is about."""
    return Thread(web=web, me=me, channel=message.channel, root=message.thread, question=message.ts, mark=claim.mark)


async def placed_before(claim: Claim, thread: Thread, inbox: Inbox) -> dict[int, str]:
    """What an earlier attempt at the claim left in the thread, by part."""
    others = (await inbox.said(claim.conversation)).replied - set(claim.replies)
    return await thread.find(known=others, orphans=True)


def _payload(message: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata: Mapping[str, Any] = message.get("metadata") or {}
    return (metadata.get("event_payload") or {}) if metadata.get("event_type") == EVENT_TYPE else {}
