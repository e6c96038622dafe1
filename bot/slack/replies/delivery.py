"""Puts a finished reply into its thread: every message once, in place of whatever an earlier attempt left there."""

from collections.abc import Awaitable, Callable, Sequence

import structlog

from bot.slack.replies.thread import GONE, TOO_MUCH, Thread
from bot.slack.views.blocks import Post, Reply, plain_posts, posts
from bot.slack.web import SlackRefusedError

log = structlog.get_logger()

Record = Callable[[Sequence[str]], Awaitable[None]]
"""Is told the ts of everything that is posted so far, in order."""


async def deliver(thread: Thread, reply: Reply, placed: dict[int, str], record: Record, *, shown: int = 0) -> None:
    """`placed`: what stands there already, by part, and in the end all; the last part is left to the caller to record.

    `shown`: characters of the body that stand in the first part and must be kept.
    Raises SlackRefusedError where the place takes no post, SlackAwayError where Slack stays away.
    """
    try:
        await _place(thread, posts(reply, shown=shown), placed, record, first=1 if shown else 0)
    except SlackRefusedError as refused:
        if refused.code not in TOO_MUCH:
            raise
        log.warning("blocks_refused", code=refused.code)
        await _place_plain(thread, reply, placed, record)


async def _place_plain(thread: Thread, reply: Reply, placed: dict[int, str], record: Record) -> None:
    said = plain_posts(reply)
    try:
        await _place(thread, said, placed, record)
    except SlackRefusedError as refused:
        if refused.code not in TOO_MUCH or not said[-1].blocks:
            raise
        await _place(thread, said[:-1], placed, record)


async def _place(
    thread: Thread, wanted: Sequence[Post], placed: dict[int, str], record: Record, *, first: int = 0
) -> None:
    for part, post in list(enumerate(wanted))[first:]:
        placed[part] = await _put(thread, post, part, placed.get(part))
        if part < len(wanted) - 1:
            await record([placed[part] for part in sorted(placed)])
    for surplus in [part for part in placed if part >= len(wanted)]:
        await thread.remove(placed.pop(surplus))


async def _put(thread: Thread, post: Post, part: int, ts: str | None) -> str:
    """The ts under which the part stands now."""
    if ts is None:
        return await thread.post(post, part)
    try:
        await thread.change(ts, post, part)
    except SlackRefusedError as refused:
        if refused.code not in GONE:
            raise
        await _remove_quietly(thread, ts)
        return await thread.post(post, part)
    return ts


async def _remove_quietly(thread: Thread, ts: str) -> None:
    try:
        await thread.remove(ts)
    except SlackRefusedError as refused:
        log.warning("message_not_removed", code=refused.code)
