"""The small signs of work beside a thread: the status line, and the state of the agent session with its Stop button."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import structlog

from bot.slack.replies.pace import Budget, Pace
from bot.slack.replies.thread import Thread
from bot.slack.web import SlackBusyError, SlackError, SlackRefusedError, heard
from crag_graph.phrases import Phrase

log = structlog.get_logger()

THINKING = Phrase("is thinking…")
LIVES = 90.0
"""Seconds after which a status is set again: Slack drops it after two minutes."""


class Signs:
    """Niceties: where one does not work, it is left alone for a while, and nothing else is harmed."""

    def __init__(self, thread: Thread, pace: Pace, *, stoppable: bool = False) -> None:
        """`stoppable`: an earlier attempt may have left its Stop button and its status."""
        self._thread = thread
        self._pace = pace
        self._said = THINKING() if stoppable else ""
        self._said_at = 0.0
        self._stoppable = stoppable

    async def say(self, status: str) -> None:
        """Shows the status, which is cleared by a post of ours."""
        now = asyncio.get_running_loop().time()
        if status == self._said and now - self._said_at < LIVES:
            return
        self._said, self._said_at = status, now
        await self._try(
            self._pace.statuses,
            lambda: self._thread.web.hasty.assistant_threads_setStatus(
                channel_id=self._thread.channel, thread_ts=self._thread.root, status=status
            ),
        )

    async def clear(self) -> None:
        if self._said:
            await self.say("")

    async def offer_stop(self) -> None:
        """Shows the Stop button beside the thread. The end of a stream takes it away, else `take_stop` does."""
        self._stoppable = True
        await self._session("processing")

    async def take_stop(self) -> None:
        if self._stoppable:
            self._stoppable = False
            await self._session("active")

    async def _session(self, status: str) -> None:
        await self._try(
            self._pace.sessions,
            lambda: self._thread.web.hasty.agents_sessions_setStatus(
                channel_id=self._thread.channel, thread_ts=self._thread.root, status=status
            ),
        )

    async def _try(self, budget: Budget, call: Any) -> None:
        if not budget.take():
            return
        made: Awaitable[Any] = call()
        try:
            await heard(made)
        except SlackBusyError as busy:
            budget.close(busy.wait)
        except SlackRefusedError as refused:
            log.debug("sign_refused", code=refused.code)
            if refused.code in {"unknown_method", "http_404", "missing_scope", "not_allowed_token_type"}:
                budget.close()
        except SlackError as error:
            log.debug("sign_not_given", code=error.code)
