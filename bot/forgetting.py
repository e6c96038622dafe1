"""Erases what was said: a conversation when somebody asks for it, old ones when their time is over."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.cleaning import clean
from bot.inbox import Inbox
from bot.memory import Memory
from bot.traces.recorder import Recorder
from crag_graph.knowledge.attached import Attached

FILES_REST = 30
"""Days without a question after which a conversation lets go of the files that came with it."""


@dataclass(frozen=True, kw_only=True)
class Forgotten:
    """What was erased: whether anything was remembered, how many traces lost their texts, and how many files went."""

    remembered: bool
    traces: int
    files: int = 0


@dataclass(frozen=True, kw_only=True)
class Tidied:
    """How many conversations were forgotten, and how many traces lost their texts."""

    conversations: int
    traces: int


async def forget(
    memory: Memory, recorder: Recorder, conversation: str, *, attached: Attached | None = None
) -> Forgotten:
    """Erases what a conversation remembers, what its traces say, and the files that came with it.

    Raises TraceError or LibraryError.
    """
    conversation = clean(conversation)
    async with memory.hold(conversation):
        remembered = await memory.forget(conversation)
        files = await attached.drop(conversation) if attached else 0
        traces = await recorder.erase_conversation(conversation)
        return Forgotten(remembered=remembered, traces=traces, files=files)


async def tidy(memory: Memory, recorder: Recorder, *, days: int) -> Tidied:
    """Erases the texts that are older than so many days; 0 keeps everything. Figures stay. Raises TraceError."""
    if not days:
        return Tidied(conversations=0, traces=0)
    before = datetime.now(UTC) - timedelta(days=days)
    return Tidied(conversations=await memory.forget_unused(before), traces=await recorder.erase_older(before))


async def let_files_go(attached: Attached, inbox: Inbox, *, days: int = FILES_REST) -> int:
    """Removes the files of conversations that have rested so many days; returns how many there were.

    Raises LibraryError or InboxError.
    """
    before = datetime.now(UTC) - timedelta(days=days)
    resting = [one for one in await attached.conversations(before=before) if await inbox.is_quiet(one, before)]
    return sum([await attached.drop(conversation) for conversation in resting])
