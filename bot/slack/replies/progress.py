"""Shows one answer while it is made, and then whole, by the best way that Slack allows at the moment."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Self

import structlog

from bot.slack.replies.delivery import Record, deliver
from bot.slack.replies.pace import Pace
from bot.slack.replies.signs import LIVES, THINKING, Signs
from bot.slack.replies.stages import View
from bot.slack.replies.thread import Thread
from bot.slack.replies.ways import Editing, Posting, Streaming, Way
from bot.slack.views.blocks import Reply
from bot.slack.web import SlackAwayError, SlackBusyError, SlackError
from crag_graph.domain import Progress

log = structlog.get_logger()

Find = Callable[[], Awaitable[dict[int, str]]]
"""Looks in the thread for what stands there of this reply, by part."""


class Live:
    """One reply on its way: use as a context, `show` progress, `finish` with the reply.

    `user` of `team` is who waits for it; `placed` is what an earlier attempt left in the thread, by part; `resumed`:
    there was one. `item` names the work in a Stop button.
    """

    def __init__(
        self,
        *,
        thread: Thread,
        pace: Pace,
        user: str,
        team: str,
        record: Record,
        find: Find,
        placed: dict[int, str] | None = None,
        resumed: bool = False,
        item: str = "",
    ) -> None:
        self.stopped = asyncio.Event()
        """The asker pressed Stop."""
        self._thread = thread
        self._pace = pace
        self._recipient = {"user": user, "team": team}
        self._record = record
        self._find = find
        self._placed = dict(placed or {})
        self._again = resumed or bool(placed)
        self._item = item
        self._in_doubt = False
        self._view = View()
        self._signs = Signs(thread, pace, stoppable=resumed)
        self._way: Way = Posting(self._signs, pace)
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._drawing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._drawing = asyncio.create_task(self._draw())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._settle()

    async def begin(self) -> None:
        """What there is to see is drawn from the start."""

    async def show(self, progress: Progress) -> None:
        self._view.take(progress)
        self._changed.set()

    async def finish(self, reply: Reply) -> list[str]:
        """The reply stands in the thread, once and whole: the ts of its messages, of which the last is not recorded yet.

        Raises SlackRefusedError or SlackAwayError.
        """
        await self._settle()
        shown = await self._way.end(reply)
        if self._in_doubt:
            self._placed = await self._find() | self._placed
        if shown is None:
            await self._signs.take_stop()
        await deliver(self._thread, reply, self._placed, self._record, shown=shown or 0)
        if self._again or self._in_doubt:
            await self._signs.clear()  # a new post does it by itself, a change does not
        return [self._placed[part] for part in sorted(self._placed)]

    @property
    def text(self) -> str:
        """What can be read of the answer so far, as it was written."""
        return self._view.raw

    async def _draw(self) -> None:
        await self._signs.say(THINKING())
        if await self._closed_within(self._pace.patience):
            return
        await self._signs.offer_stop()
        self._way = self._best_way()
        while not self._closing.is_set():
            self._changed.clear()
            if await self._closed_within(await self._draw_once()):
                return
            await _first(self._changed.wait(), self._closing.wait(), asyncio.sleep(LIVES))

    async def _draw_once(self) -> float:
        try:
            return await self._way.draw(self._view)
        except SlackBusyError as busy:
            return self._wait_or_change(busy)
        except SlackError as error:
            log.info("show_falls_back", code=error.code)
            self._change_way(error)
            return 0.0

    def _best_way(self) -> Way:
        if self._placed:
            return Editing(self._thread, self._pace, self._place, ts=self._placed[0], item=self._item)
        if self._pace.streaming.is_closed:
            return Editing(self._thread, self._pace, self._place, item=self._item)
        if self._pace.streams.take():
            return Streaming(self._thread, self._pace, self._place, **self._recipient)
        return Posting(self._signs, self._pace)

    def _wait_or_change(self, busy: SlackBusyError) -> float:
        if isinstance(self._way, Streaming) and not self._way.ts:
            self._pace.streams.close(busy.wait)
            self._way = Posting(self._signs, self._pace)
            return 0.0
        return busy.wait

    def _change_way(self, error: SlackError) -> None:
        """Something does not work here: go on with what does."""
        self._in_doubt |= isinstance(error, SlackAwayError)
        if error.code == "stopped_by_user":
            self.stopped.set()
        if not isinstance(self._way, Streaming) or (self._in_doubt and not self._way.ts):
            self._way = Posting(self._signs, self._pace)
            return
        if not self._way.ts:
            self._pace.streaming.close()
        self._way = self._best_way()

    async def _place(self, ts: str) -> None:
        self._placed[0] = ts
        await self._record([ts])

    async def _settle(self) -> None:
        """No picture is drawn any more; a call that is under way is waited for, because it may have effects."""
        self._closing.set()
        if self._drawing and (failures := await asyncio.gather(self._drawing, return_exceptions=True))[0]:
            log.error("progress_not_shown", exc_info=failures[0])
            self._in_doubt, self._drawing = True, None

    async def _closed_within(self, seconds: float) -> bool:
        if seconds > 0:
            await _first(self._closing.wait(), asyncio.sleep(seconds))
        return self._closing.is_set()


async def _first(*events: Coroutine[Any, Any, Any]) -> None:
    tasks = [asyncio.ensure_future(event) for event in events]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
