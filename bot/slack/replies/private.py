"""An answer that only its asker sees: by the response URL of a slash command, in the channel, or in direct messages."""

import asyncio
from typing import Any, Self

import aiohttp
import structlog

from bot.slack import words
from bot.slack.views.blocks import Post, Reply, posts
from bot.slack.web import SlackAwayError, SlackError, Web, heard
from crag_graph.domain import Progress
from crag_graph.phrases import Phrase

log = structlog.get_logger()

MOST_USES = 4
"""Messages by one response URL; Slack allows five."""
LONG = Phrase("The answer is long: you find it in our direct messages.")


class Private:
    """Shows nothing while it is made. Slack gives such messages no ts, so nobody can look for them afterwards."""

    def __init__(self, *, web: Web, response_url: str, channel: str, user: str, thread: str = "") -> None:
        self.stopped = asyncio.Event()
        self.text = ""
        self._web = web
        self._url = response_url
        self._channel = channel
        self._thread = thread
        self._user = user

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def begin(self) -> None:
        """Who ran a command was told by its acknowledgement; who wrote a message sees nothing of us yet."""
        if not self._url:
            await self._whisper(Post(text=words.WORKING()))

    async def show(self, progress: Progress) -> None:
        pass

    async def finish(self, reply: Reply) -> list[str]:
        made = posts(reply)
        if len(made) > MOST_USES:
            await self._write_directly(made)
            made = (Post(text=LONG()),)
        for post in made:
            if not await self._respond(post):
                await self._whisper(post)
        return []

    async def _respond(self, post: Post) -> bool:
        """False where there is no response URL, or it has expired or was used too often."""
        if not self._url:
            return False
        body: dict[str, Any] = {"response_type": "ephemeral", "text": post.text, "unfurl_links": False}
        if post.blocks:
            body["blocks"] = post.blocks
        try:
            async with self._web.session.post(self._url, json=body) as answer:
                return answer.ok and (await answer.text()).startswith(("ok", '{"ok":true', '{"ok": true'))
        except (aiohttp.ClientError, TimeoutError) as error:
            raise SlackAwayError(type(error).__name__) from error

    async def _whisper(self, post: Post) -> None:
        try:
            await heard(
                self._web.patient.chat_postEphemeral(
                    channel=self._channel,
                    user=self._user,
                    thread_ts=self._thread or None,
                    text=post.text,
                    blocks=list(post.blocks) or None,
                )
            )
        except SlackError as error:
            log.info("not_whispered", code=error.code)
            await self._write_directly((post,))

    async def _write_directly(self, made: tuple[Post, ...]) -> None:
        for post in made:
            await heard(
                self._web.patient.chat_postMessage(
                    channel=self._user,
                    text=post.text,
                    blocks=list(post.blocks) or None,
                    unfurl_links=False,
                    unfurl_media=False,
                )
            )
