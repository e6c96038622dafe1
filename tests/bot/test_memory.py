import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, TypedDict
from uuid import UUID

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.channels import UntrackedValue
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from bot.database.engine import MEMORY_SCHEMA, with_schema
from bot.memory import Memory, MemoryAwayError, open_postgres, open_sqlite

Open = Callable[[], AbstractAsyncContextManager[Memory]]


class Talk(TypedDict, total=False):
    turns: list[str]
    question: Annotated[str, UntrackedValue]
    found: Annotated[object, UntrackedValue]


def graph(memory: Memory) -> CompiledStateGraph[Talk, None, Talk, Talk]:
    async def find(state: Talk) -> Talk:
        await asyncio.sleep(0)
        return {"found": object()}

    async def answer(state: Talk) -> Talk:
        if state["question"] == "fail":
            raise ZeroDivisionError
        return {"turns": [*state.get("turns", []), state["question"]]}

    built = StateGraph(Talk)
    built.add_node("find", find)
    built.add_node("answer", answer)
    built.add_edge(START, "find")
    built.add_edge("find", "answer")
    built.add_edge("answer", END)
    return built.compile(checkpointer=memory.saver)


async def say(memory: Memory, question: str, conversation: str = "c1") -> list[str]:
    async with memory.hold(conversation):
        try:
            result = await graph(memory).ainvoke(
                {"question": question}, {"configurable": {"thread_id": conversation}}, durability="exit"
            )
        finally:
            await memory.prune(conversation)
    return list(result["turns"])


async def checkpoints(memory: Memory, conversation: str = "c1") -> int:
    return len([c async for c in memory.saver.alist({"configurable": {"thread_id": conversation}})])


@pytest.fixture
def open_memory(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the memory of the kind that the test's parameter names: twice is as two processes would."""
    if request.param == "sqlite":
        return lambda: open_sqlite(tmp_path / "memory.sqlite", locks=tmp_path / "locks")
    address = with_schema(request.getfixturevalue("database_url"), MEMORY_SCHEMA)
    return lambda: open_postgres(address, locks=tmp_path / "locks")


@pytest.fixture
async def memory(open_memory: Open) -> AsyncIterator[Memory]:
    async with open_memory() as opened:
        yield opened


both = pytest.mark.parametrize("open_memory", ["sqlite", "postgres"], indirect=True)
sqlite = pytest.mark.parametrize("open_memory", ["sqlite"], indirect=True)


@both
async def test_a_conversation_goes_on_after_a_restart(open_memory: Open) -> None:
    async with open_memory() as memory:
        await say(memory, "one")
    async with open_memory() as memory:
        assert await say(memory, "two") == ["one", "two"]


@both
async def test_only_the_latest_checkpoint_is_kept(memory: Memory) -> None:
    for number in range(5):
        await say(memory, str(number))
    assert await checkpoints(memory) == 1


@both
async def test_a_run_that_failed_leaves_the_turns_as_they_were(memory: Memory) -> None:
    await say(memory, "one")
    with pytest.raises(ZeroDivisionError):
        await say(memory, "fail")
    assert await checkpoints(memory) == 1
    assert await say(memory, "two") == ["one", "two"]


@both
async def test_a_forgotten_conversation_starts_over_and_others_stay(memory: Memory) -> None:
    await say(memory, "one")
    await say(memory, "other", conversation="c2")
    assert await memory.forget("c1")
    assert not await memory.forget("c1")
    assert await say(memory, "new") == ["new"]
    assert await say(memory, "again", conversation="c2") == ["other", "again"]


@both
async def test_conversations_without_a_turn_since_then_are_forgotten(memory: Memory) -> None:
    await say(memory, "old", conversation="c1")
    between = datetime.now(UTC)
    await say(memory, "new", conversation="c2")
    assert await memory.forget_unused(between) == 1
    assert (await checkpoints(memory, "c1"), await checkpoints(memory, "c2")) == (0, 1)
    assert await memory.forget_unused(between - timedelta(days=30)) == 0


@both
async def test_two_users_of_one_memory_lose_no_turn(open_memory: Open) -> None:
    async with open_memory() as one, open_memory() as two:
        await asyncio.gather(*(say(memory, f"{n}") for n in range(10) for memory in (one, two)))
        turns = await say(one, "last")
    assert sorted(turns) == sorted([*(f"{n}" for n in range(10)), *(f"{n}" for n in range(10)), "last"])


def stored(folder: Path) -> bytes:
    """Everything that lies on the disk."""
    return b"".join(file.read_bytes() for file in sorted(folder.glob("memory.sqlite*")))


@sqlite
async def test_forgotten_words_are_in_no_file(memory: Memory, tmp_path: Path) -> None:
    await say(memory, "my burn-out")
    assert b"burn-out" in stored(tmp_path)
    await memory.forget("c1")
    assert b"burn-out" not in stored(tmp_path)


@sqlite
async def test_a_reader_with_the_file_open_disturbs_nobody(memory: Memory, tmp_path: Path) -> None:
    await say(memory, "one")
    reader = sqlite3.connect(tmp_path / "memory.sqlite")
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM checkpoints").fetchone() == (1,)
    assert await say(memory, "two") == ["one", "two"]
    reader.close()


@sqlite
@pytest.mark.parametrize("value", [UUID(int=1), Path("x"), datetime(2026, 1, 1, tzinfo=UTC)])
async def test_a_value_that_crept_into_the_state_is_not_lost(memory: Memory, value: Any) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": "c1"}}
    await graph(memory).aupdate_state(config, {"turns": [value]}, as_node="answer")
    state = await graph(memory).aget_state(config)
    assert str(state.values["turns"][0]) == str(value)


@sqlite
async def test_what_cannot_be_stored_is_refused_when_it_is_written(memory: Memory) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": "c1"}}
    with pytest.raises(TypeError, match="not msgpack serializable"):
        await graph(memory).aupdate_state(config, {"turns": [range(3)]}, as_node="answer")


async def test_a_file_that_is_no_memory_is_named(tmp_path: Path) -> None:
    file = tmp_path / "memory.sqlite"
    file.write_text("this is no database, but long enough to look at " * 100)
    with pytest.raises(MemoryAwayError, match=r"memory\.sqlite.*not a database"):
        async with open_sqlite(file, locks=tmp_path / "locks"):
            pass


async def test_a_memory_whose_database_is_away_says_so(tmp_path: Path) -> None:
    with pytest.raises(MemoryAwayError, match="away"):
        async with open_postgres("postgresql://nobody@127.0.0.1:1/nothing", locks=tmp_path / "locks", patience=0.1):
            pass


WRITER = """
import asyncio, pathlib, sys
from tests.bot.test_memory import say
from bot.memory import open_sqlite
async def main(folder, name):
    async with open_sqlite(folder / "memory.sqlite", locks=folder / "locks") as memory:
        jobs = (say(memory, f"{name}{n}", conversation=f"c{n % 5}") for n in range(25))
        print("ready", flush=True)
        await asyncio.gather(*jobs)
        await asyncio.sleep(float(sys.argv[3]))
asyncio.run(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
"""


async def writer(folder: Path, name: str, linger: float) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(folder), name, str(linger), stdout=asyncio.subprocess.PIPE
    )


@sqlite
async def test_two_processes_write_at_once_and_no_turn_is_lost(memory: Memory, tmp_path: Path) -> None:
    processes = [await writer(tmp_path, name, 0) for name in "ab"]
    assert [await process.wait() for process in processes] == [0, 0]
    turns = [turn for number in range(5) for turn in (await say(memory, "last", conversation=f"c{number}"))[:-1]]
    assert sorted(turns) == sorted(f"{name}{number}" for name in "ab" for number in range(25))


@sqlite
async def test_after_kill_9_the_next_one_finds_whole_turns_and_no_lock(memory: Memory, tmp_path: Path) -> None:
    process = await writer(tmp_path, "a", 60)
    assert process.stdout
    await process.stdout.readline()
    await asyncio.sleep(0.2)
    process.kill()
    await process.wait()
    async with asyncio.timeout(10):
        for number in range(5):
            assert (await say(memory, "after", conversation=f"c{number}"))[-1] == "after"
