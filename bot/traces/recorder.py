"""Writes traces: a row when a run starts, the rest in one go when it ends. A killed run stays behind unfinished."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import insert, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cleaning import clean, clean_all
from bot.traces import TraceError, erasing
from bot.traces.journal import Journal, Step, plain
from bot.traces.tables import runs, steps
from crag_graph.domain import ModelCall


class RunState(StrEnum):
    """How far a run came."""

    RUNNING = "running"
    ANSWERED = "answered"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What is known when a run starts."""

    id: str
    team: str
    channel: str
    conversation: str
    asker: str
    permalink: str
    question: str
    spaces: tuple[str, ...] = ()
    heard: tuple[str, ...] = ()
    """People whose words before the question it may lean on."""
    rerun_of: str = ""
    """The run that is tried again; what a reviewer tries is no question of anybody."""


class Recorder:
    """`keep_texts`: also keep what the models were sent and what they replied."""

    def __init__(self, engine: AsyncEngine, *, keep_texts: bool, settings: str, version: str) -> None:
        self._engine = engine
        self._keep_texts = keep_texts
        self._made_with = {"settings": settings, "version": version}

    async def open(self, opening: Opening) -> "OpenTrace":
        """The trace of a run that starts now. Raises TraceError."""
        row = clean_all(asdict(opening)) | self._made_with | {"state": RunState.RUNNING.value}
        with _reachable():
            async with self._engine.begin() as connection:
                await connection.execute(insert(runs), row)
        return OpenTrace(self._engine, opening.id, keep_texts=self._keep_texts)

    async def erase_conversation(self, conversation: str) -> int:
        """Erases what the traces of a conversation say; returns how many there were. Raises TraceError."""
        with _reachable():
            return await erasing.erase_conversation(self._engine, clean(conversation))

    async def erase_older(self, before: datetime) -> int:
        """Erases what the traces of runs say that started before; returns how many there were. Raises TraceError."""
        with _reachable():
            return await erasing.erase_older(self._engine, before)


class OpenTrace:
    """The trace of a run that is going on; close it exactly once."""

    def __init__(self, engine: AsyncEngine, run: str, *, keep_texts: bool) -> None:
        self.id = run
        self.journal = Journal()
        self._engine = engine
        self._keep_texts = keep_texts
        self._since = time.perf_counter()

    @property
    def milliseconds(self) -> float:
        """Since the run started."""
        return (time.perf_counter() - self._since) * 1000

    async def close(self, state: RunState, error: str = "") -> None:
        """Stores the outcome and every step. Raises TraceError."""
        outcome = _outcome(self.journal) | {
            "state": state.value,
            "error": error,
            "milliseconds": self.milliseconds,
            "finished_at": datetime.now(UTC),
        }
        rows = [self._step(ordinal, step) for ordinal, step in enumerate(self.journal.steps)]
        with _reachable():
            await self._store(outcome, rows)

    async def _store(self, outcome: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        async with self._engine.begin() as connection:
            found = await connection.execute(update(runs).where(runs.c.id == self.id).values(clean_all(outcome)))
            if rows and found.rowcount:  # the trace may have been erased meanwhile
                await connection.execute(insert(steps), rows)

    def _step(self, ordinal: int, step: Step) -> dict[str, Any]:
        return {
            "run": self.id,
            "ordinal": ordinal,
            "node": step.node,
            "milliseconds": step.milliseconds,
            "detail": step.detail,
            "calls": [plain(self._told(call)) for call in step.calls],
            "faults": plain(step.faults),
        }

    def _told(self, call: ModelCall) -> ModelCall:
        return call if self._keep_texts else replace(call, prompt="", reply="")


@contextmanager
def _reachable() -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        raise TraceError from error


def _outcome(journal: Journal) -> dict[str, Any]:
    state, answer = journal.state, journal.answer
    verdict = state.get("verdict")
    told: dict[str, Any] = {}
    if answer:
        told = {
            "answer": answer.text,
            "abstention": answer.abstention.value if answer.abstention else None,
            "quoted": answer.quoted,
            "notice": answer.notice,
            "citations": plain(answer.citations),
        }
    return told | {
        "standalone": state.get("standalone", ""),
        "verdict": verdict.value if verdict else None,
        "reason": answer.reason if answer else state.get("reason", ""),
        "web_query": state.get("web_query", ""),
        "calls": len(journal.calls),
        "model": journal.calls[-1].model if journal.calls else "",
        "prompt_tokens": sum(call.prompt_tokens for call in journal.calls),
        "completion_tokens": sum(call.completion_tokens for call in journal.calls),
        "faults": len(journal.faults),
    }
