from collections.abc import AsyncIterator, Sequence
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot import logs
from bot.answering import Answering, Question
from bot.memory import Memory, open_sqlite
from bot.telemetry.finished import Watch
from bot.traces.recorder import Recorder
from crag_graph.context import Policy
from crag_graph.domain import Progress
from crag_graph.services import Services
from tests.fakes.services import ScriptedEvaluator, ScriptedLibrary, ScriptedWeb, ScriptedWriter, passage

LEAVE = passage("Parents get 16 weeks of leave. Adoption counts the same.", title="Leave")


@pytest.fixture(scope="session", autouse=True)
def _plain_logs() -> None:
    """As in production: what structlog does by default draws every traceback for seconds."""
    logs.configure("warning")


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with open_sqlite(tmp_path / "memory.sqlite", locks=tmp_path / "locks") as opened:
        yield opened


@pytest.fixture
def services() -> Services:
    return Services(
        library=ScriptedLibrary(spaces={"workspace": [LEAVE]}),
        evaluator=ScriptedEvaluator(scores={"weeks": 0.9}),
        writer=ScriptedWriter(),
        web=ScriptedWeb(),
    )


@pytest.fixture
def answering(services: Services, memory: Memory, engine: AsyncEngine) -> Answering:
    return compose(services, memory, engine)


def compose(
    services: Services, memory: Memory, engine: AsyncEngine, *, deadline: float = 60.0, watches: Sequence[Watch] = ()
) -> Answering:
    return Answering(
        services=services,
        policy=Policy(deadline=deadline),
        memory=memory,
        recorder=Recorder(engine, keep_texts=False, settings="s", version="1"),
        today=lambda: date(2026, 11, 30),
        watches=watches,
    )


def question(text: str = "How long is parental leave?", *, conversation: str = "T1:C1:1") -> Question:
    return Question(text=text, conversation=conversation, spaces=("workspace",), team="T1", asker="U1")


async def quietly(_progress: Progress) -> None:
    """Shows nothing."""
