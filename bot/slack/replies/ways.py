"""Three ways to show an answer while it is made: a stream, a message that is edited, a status until it is posted."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import structlog

from bot.slack.replies.pace import Pace
from bot.slack.replies.signs import Signs
from bot.slack.replies.stages import STAGES, View
from bot.slack.replies.thread import Thread
from bot.slack.text.mrkdwn import escape
from bot.slack.text.splitting import cut
from bot.slack.views.blocks import Post, Reply, posts, stoppable, streamed_length
from bot.slack.web import SlackBusyError, SlackError, SlackRefusedError, heard

log = structlog.get_logger()

LONGEST_EDIT = 2_800
"""Characters of a message that is still edited, in one block; the end of the text is what is read."""

Place = Callable[[str], Awaitable[None]]
"""Is told the ts of the first message of the reply, as soon as it is posted."""


class Way(Protocol):
    async def draw(self, view: View) -> float:
        """One picture of the work; returns the seconds until the next one. Raises SlackError."""

    async def end(self, reply: Reply) -> int | None:
        """Ends the show; how much of the reply's body now stands finished, or None: all is still to be placed."""


class Streaming:
    """Slack's own streaming: task updates, text, and the end with its buttons. `text` is what stands there for certain."""

    def __init__(self, thread: Thread, pace: Pace, place: Place, *, user: str, team: str) -> None:
        self.ts = ""
        self.text = ""
        self._restarted = 0
        self._tasks: dict[str, str] = {}
        self._titles: dict[str, str] = {stage: title() for stage, title in STAGES.items()}
        self._thread = thread
        self._pace = pace
        self._place = place
        self._recipient = {"recipient_user_id": user, "recipient_team_id": team}

    async def draw(self, view: View) -> float:
        if view.restarted != self._restarted and self.text:
            raise SlackRefusedError("text_restarted")  # what was streamed cannot be taken back
        self._restarted = view.restarted
        chunks = self._chunks(view)
        if not self.ts:
            await self._start(chunks or [self._task("contextualize", "in_progress")])
        elif chunks and self._pace.appends.take():
            await heard(
                self._thread.web.hasty.chat_appendStream(channel=self._thread.channel, ts=self.ts, chunks=chunks)
            )
            self._taken(chunks)
        return self._pace.append_every

    async def end(self, reply: Reply) -> int | None:
        if not self.ts or not reply.body.startswith(self.text):
            return None
        length = streamed_length(reply.body, len(self.text))
        rest = cut(reply.body, length)[0][len(self.text) :]
        done = [self._task(node, "complete") for node, status in self._tasks.items() if status != "complete"]
        chunks = [*done, *_text(rest)]
        try:
            await self._stop(chunks, list(posts(reply, shown=length)[0].blocks))
        except SlackError as error:
            log.info("stream_not_ended", code=error.code)
            return None
        return length

    async def _start(self, chunks: list[dict[str, Any]]) -> None:
        started = await heard(
            self._thread.web.hasty.chat_startStream(
                channel=self._thread.channel, thread_ts=self._thread.root, chunks=chunks, **self._recipient
            )
        )
        self.ts = str(started["ts"])
        self._taken(chunks)
        await self._place(self.ts)

    async def _stop(self, chunks: list[dict[str, Any]], blocks: list[dict[str, Any]]) -> None:
        while True:
            try:
                await heard(
                    self._thread.web.hasty.chat_stopStream(
                        channel=self._thread.channel,
                        ts=self.ts,
                        chunks=chunks or None,
                        blocks=blocks or None,
                        metadata=self._thread.metadata(0),
                        session_status="active",  # takes the Stop button away
                    )
                )
            except SlackBusyError as busy:
                await asyncio.sleep(busy.wait)
            else:
                return

    def _chunks(self, view: View) -> list[dict[str, Any]]:
        tasks = {node: "in_progress" if node == view.stages[-1] else "complete" for node in view.stages}
        self._titles |= {node: view.title(node) for node in view.stages}
        text = view.safe_text(self.text)
        more = text[len(self.text) : streamed_length(text, len(self.text))]
        changed = [self._task(node, status) for node, status in tasks.items() if self._tasks.get(node) != status]
        return [*changed, *_text(more)]

    def _task(self, node: str, status: str) -> dict[str, Any]:
        return {"type": "task_update", "id": node, "title": self._titles[node], "status": status}

    def _taken(self, chunks: list[dict[str, Any]]) -> None:
        for chunk in chunks:
            if chunk["type"] == "task_update":
                self._tasks[chunk["id"]] = chunk["status"]
            else:
                self.text += chunk["text"]


class Editing:
    """A message that is edited as the work goes on, with a Stop button. `ts` is empty until it is posted."""

    def __init__(self, thread: Thread, pace: Pace, place: Place, *, item: str, ts: str = "") -> None:
        self._thread = thread
        self._pace = pace
        self._place = place
        self._ts = ts
        self._item = item
        self._drawn: Post | None = None

    async def draw(self, view: View) -> float:
        line = f"_{escape(view.line)}…_"
        text = escape(view.raw.strip())[-LONGEST_EDIT:]
        post = stoppable(f"{text}\n\n{line}" if text else line, self._item)
        if not self._ts:
            self._ts = await self._thread.post(post, 0)
            await self._place(self._ts)
        elif post != self._drawn and self._pace.edits.take():
            await self._thread.try_change(self._ts, post)
        self._drawn = post
        return self._pace.edit_every

    async def end(self, reply: Reply) -> int | None:  # noqa: ARG002 - as the protocol has it
        return None


class Posting:
    """Nothing but the status line until the answer is there."""

    def __init__(self, signs: Signs, pace: Pace) -> None:
        self._signs = signs
        self._pace = pace

    async def draw(self, view: View) -> float:
        await self._signs.say(f"{view.line}…")
        return self._pace.edit_every

    async def end(self, reply: Reply) -> int | None:  # noqa: ARG002 - as the protocol has it
        return None


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "markdown_text", "text": text}] if text else []
