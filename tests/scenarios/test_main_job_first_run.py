import asyncio
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bot.cli.terminal import Ended, crag, end, start

QUESTION = "What is gradient descent?"
DOCUMENTS = 8
"""Of the examples."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty data folder that the user whom root lets run Postgres can reach, so that all of it lies there."""
    above = Path(tempfile.mkdtemp(prefix="crag-first-run-"))
    above.chmod(0o711)
    yield above / "data"
    shutil.rmtree(above)


async def listed(folder: Path) -> list[dict[str, Any]]:
    ended = await crag("library", "list", "--json", cwd=folder.parent, CRAG_DATA_DIR=str(folder))
    documents: list[dict[str, Any]] = json.loads(ended.out)
    return documents


async def until_it_takes_in_documents(folder: Path) -> None:
    """The memory is opened just before."""
    while not (folder / "memory.sqlite").exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.05)
    await asyncio.sleep(1.0)


def is_answer(ended: Ended) -> bool:
    return ended.status == 0 and "loss falls fastest" in ended.out and "[1]" in ended.out


async def test_two_first_runs_at_once_both_answer_and_the_examples_are_there_once(folder: Path) -> None:
    environment = {"CRAG_DATA_DIR": str(folder), "ASK": QUESTION}
    runs = [await start("start", cwd=folder.parent, environment=environment) for _ in range(2)]
    first, second = await asyncio.gather(*map(end, runs))
    assert is_answer(first), first.error
    assert is_answer(second), second.error
    assert len(await listed(folder)) == DOCUMENTS


async def test_after_kill_9_in_the_first_run_the_next_one_finishes_it(folder: Path) -> None:
    environment = {"CRAG_DATA_DIR": str(folder)}
    killed = await start("start", "--ask", QUESTION, cwd=folder.parent, environment=environment)
    await until_it_takes_in_documents(folder)
    killed.kill()
    await killed.wait()
    chat = await crag("start", cwd=folder.parent, stdin=f"{QUESTION}\n/sources\n/quit\n", **environment)
    assert is_answer(chat), chat.error
    assert len(await listed(folder)) == DOCUMENTS
