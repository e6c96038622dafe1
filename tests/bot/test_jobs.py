"""The queue: order within a subject, two workers, death, restarts."""

import asyncio
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from psycopg import AsyncConnection

from bot.database.engine import JOBS_SCHEMA, with_schema
from bot.jobs import Kind, Queue, QueueError, RetryLaterError, Tasks, open_queue

Task = Callable[[str], Awaitable[None]]


@pytest.fixture
async def queue(database_url: str) -> AsyncIterator[Queue]:
    async with open_queue(with_schema(database_url, JOBS_SCHEMA)) as opened:
        yield opened


async def nothing(subject: str = "") -> None:
    pass


@asynccontextmanager
async def worker(
    queue: Queue, *, answer: Task = nothing, ingest: Task = nothing, at_once: int = 4
) -> AsyncIterator[None]:
    working = asyncio.create_task(queue.work(Tasks(answer=answer, ingest=ingest, tidy=nothing), at_once=at_once))
    try:
        yield
    finally:
        working.cancel()
        await asyncio.wait([working])


async def until(condition: Callable[[], bool], within: float = 10.0) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


async def test_jobs_of_a_subject_run_one_after_another_and_subjects_at_once(queue: Queue) -> None:
    running: dict[str, int] = defaultdict(int)
    most: dict[str, int] = defaultdict(int)
    done: list[str] = []

    async def answer(subject: str) -> None:
        running[subject] += 1
        most[subject] = max(most[subject], running[subject])
        most["all"] = max(most["all"], sum(running.values()))
        await asyncio.sleep(0.02)
        running[subject] -= 1
        done.append(subject)

    async with worker(queue, answer=answer):
        for number in range(12):
            await queue.put(Kind.ANSWER, f"conversation {number % 3}")
        await until(lambda: len(done) == 12)
    assert all(most[f"conversation {number}"] == 1 for number in range(3))
    assert most["all"] == 3


async def test_a_long_ingest_does_not_hold_up_an_answer(queue: Queue) -> None:
    answered = asyncio.Event()

    async def answer(subject: str) -> None:
        answered.set()

    async def ingest(subject: str) -> None:
        await answered.wait()

    async with worker(queue, answer=answer, ingest=ingest, at_once=1):
        await queue.put(Kind.INGEST, "a large document")
        await queue.put(Kind.ANSWER, "a question")
        await asyncio.wait_for(answered.wait(), 5)


async def test_work_is_tried_again_when_it_says_so_and_when_it_breaks(queue: Queue) -> None:
    tries: dict[str, int] = defaultdict(int)

    async def answer(subject: str) -> None:
        tries[subject] += 1
        if tries[subject] == 1:
            raise RetryLaterError(0.1) if subject == "told" else ValueError("broken")

    async with worker(queue, answer=answer):
        await queue.put(Kind.ANSWER, "told")
        await queue.put(Kind.ANSWER, "broken")
        await until(lambda: tries == {"told": 2, "broken": 2})


async def test_what_waits_behind_a_retry_keeps_its_place(queue: Queue) -> None:
    order: list[int] = []
    turn = iter(range(100))

    async def answer(subject: str) -> None:
        order.append(next(turn))
        if len(order) == 1:
            raise RetryLaterError(0.3)

    async with worker(queue, answer=answer):
        started = time.monotonic()
        await queue.put(Kind.ANSWER, "a")
        await queue.put(Kind.ANSWER, "a")
        await until(lambda: len(order) == 3)
        assert time.monotonic() - started > 0.3


async def test_a_worker_that_is_stopped_gives_its_job_back(queue: Queue, database_url: str) -> None:
    started, finished = asyncio.Event(), asyncio.Event()

    async def slow(subject: str) -> None:
        started.set()
        await finished.wait()

    async with worker(queue, answer=slow):
        await queue.put(Kind.ANSWER, "a")
        await started.wait()
        asyncio.get_running_loop().call_later(0.1, finished.set)
    async with await AsyncConnection.connect(with_schema(database_url, JOBS_SCHEMA)) as connection:
        left = await connection.execute("SELECT count(*) FROM procrastinate_jobs")
        assert await left.fetchone() == (0,)


VICTIM = """
import asyncio, sys
from bot.jobs import Tasks, open_queue

async def hang(subject=""):
    print("started", flush=True)
    await asyncio.sleep(600)

async def main():
    async with open_queue(sys.argv[1]) as queue:
        await queue.work(Tasks(answer=hang, ingest=hang, tidy=hang), at_once=1)

asyncio.run(main())
"""


async def test_the_conversation_of_a_killed_worker_goes_on_within_15_seconds(queue: Queue, database_url: str) -> None:
    await queue.put(Kind.ANSWER, "a")
    conninfo = with_schema(database_url, JOBS_SCHEMA)
    victim = await asyncio.create_subprocess_exec(
        sys.executable, "-c", VICTIM, conninfo, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert victim.stdout
    assert await victim.stdout.readline() == b"started\n"
    answered = asyncio.Event()

    async def answer(subject: str) -> None:
        answered.set()

    async with worker(queue, answer=answer):
        await asyncio.sleep(0.5)
        assert not answered.is_set(), "two workers had one conversation"
        victim.kill()
        await victim.wait()
        await asyncio.wait_for(answered.wait(), 15)


async def test_a_worker_outlives_its_connections(queue: Queue, database_url: str, server_url: str) -> None:
    done: list[str] = []

    async def answer(subject: str) -> None:
        done.append(subject)

    async with worker(queue, answer=answer):
        await queue.put(Kind.ANSWER, "before")
        await until(lambda: done == ["before"])
        await cut_connections(server_url, database_url)
        async with asyncio.timeout(5):
            while True:
                try:
                    await queue.put(Kind.ANSWER, "after")
                    break
                except QueueError:
                    await asyncio.sleep(0.1)
        await until(lambda: "after" in done)


async def test_a_queue_that_is_away_is_said_so() -> None:
    with pytest.raises(QueueError, match="cannot be reached"):
        async with open_queue("postgresql://nobody@127.0.0.1:1/none", patience=0.5):
            pass


@pytest.fixture
def server_url(server: object) -> str:
    return str(server.url("postgres"))  # type: ignore[attr-defined] # the launcher of the tests' Postgres


async def cut_connections(server_url: str, database_url: str) -> None:
    """As a restart of Postgres does it to everybody."""
    async with await AsyncConnection.connect(database_url) as connection:
        name = connection.info.dbname
    async with await AsyncConnection.connect(server_url, autocommit=True) as postgres:
        await postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
