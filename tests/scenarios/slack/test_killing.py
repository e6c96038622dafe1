"""Workers are killed at any point; nobody waits in vain, and nobody is answered twice."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing.context import ForkServerProcess
from random import Random

import pytest
from psycopg import AsyncConnection
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.knowledge.attached import Attached
from tests.scenarios.slack.bot import BUTTONS, Options, Stage
from tests.scenarios.slack.worker import ANSWER, Orders, run
from tests.slack_workspace import Message

KILLS = 20
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.scenarios.slack.worker"])
"""Workers are forked from a process that has imported everything: real processes that start in no time."""


def orders(stage: Stage, *, seconds: float, streams: bool, at_once: int = 1, embeds: float = 0.0) -> Orders:
    return Orders(
        database_url=stage.database_url,
        api_url=stage.slack.api_url,
        bot_token=stage.slack.bot_token,
        folder=str(stage.folder),
        seconds=seconds,
        streams=streams,
        at_once=at_once,
        embeds=embeds,
    )


def start(given: Orders) -> ForkServerProcess:
    process = FORKS.Process(target=run, args=(given,), daemon=True)
    process.start()
    return process


@asynccontextmanager
async def worker(given: Orders) -> AsyncIterator[None]:
    """A worker that lives as long as the context."""
    process = start(given)
    try:
        yield
    finally:
        process.kill()
        await asyncio.to_thread(process.join)


async def all_done(stage: Stage) -> None:
    """Wait until nothing is left to do in the inbox; an answer may stand there before that."""
    async with asyncio.timeout(40), await AsyncConnection.connect(stage.database_url, autocommit=True) as connection:
        while True:
            found = await connection.execute("SELECT count(*) FROM inbox WHERE done_at IS NULL")
            if await found.fetchone() == (0,):
                return
            await asyncio.sleep(0.1)


def assert_answered_once(stage: Stage, question: Message) -> None:
    replies = stage.slack.replies(question)
    assert len(replies) == 1, replies
    (reply,) = replies
    assert reply.is_finished
    assert reply.screen.count("Sixteen weeks") == 1
    assert ANSWER.removesuffix(" [1].") in reply.screen
    assert reply.buttons == BUTTONS
    assert stage.slack.status(question) == ""


@pytest.mark.parametrize("streams", [True, False])
async def test_a_worker_killed_at_any_point_costs_no_answer_and_doubles_none(stage: Stage, streams: bool) -> None:
    """Each worker has one question and is killed at another moment of it; then one that lives takes all over."""
    random = Random(f"kill {streams}")  # noqa: S311 - the moments are to be the same each time
    async with stage.bot(options=Options(http=True, works=False)):
        questions = [await stage.ada.says(f"@bot How many weeks, {n}?", in_=stage.travel) for n in range(KILLS // 2)]
        victims = [start(orders(stage, seconds=0.6, streams=streams)) for _ in questions]
        await stage.slack.until(lambda: any(stage.slack.session(q).statuses for q in questions), within=30)
        for victim in victims:
            await asyncio.sleep(random.uniform(0.0, 0.25))
            victim.kill()
        async with worker(orders(stage, seconds=0.2, streams=streams, at_once=6)):
            await all_done(stage)
            await stage.slack.quiet()
        for question in questions:
            assert_answered_once(stage, question)


async def test_the_conversation_of_a_killed_worker_goes_on_within_15_seconds(stage: Stage) -> None:
    async with stage.bot(options=Options(http=True, works=False)):
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        victim = start(orders(stage, seconds=30, streams=True))
        await stage.slack.until(lambda: any("word1" in r.screen for r in stage.slack.replies(question)), within=30)
        follow_up = await stage.ada.says("@bot And then?", in_=question)
        victim.kill()
        loop = asyncio.get_running_loop()
        killed = loop.time()
        async with worker(orders(stage, seconds=0.1, streams=True)):
            await stage.slack.reply_to(question, until=lambda reply: bool(reply.buttons), within=20)
            await stage.slack.until(lambda: len(stage.slack.replies(question)) == 2, within=5)
        assert loop.time() - killed < 15
        assert [reply.ts > follow_up.ts for reply in stage.slack.replies(question)] == [False, True]


async def test_a_worker_killed_while_it_reads_files_costs_no_answer_and_doubles_no_file(
    stage: Stage, engine: AsyncEngine
) -> None:
    files = [stage.ada.file(f"file-{n}.md", f"Parents of {n} get {n} weeks.".encode()) for n in range(3)]
    async with stage.bot(options=Options(http=True, works=False)):
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel, files=files)
        victim = start(orders(stage, seconds=0.2, streams=True, embeds=0.4))
        named = f"{stage.slack.team.id}:{stage.travel.id}:{question.ts}"
        attached = Attached(engine=engine)
        async with asyncio.timeout(30):
            while not await attached.documents(named):  # noqa: ASYNC110 - the database has no event for it
                await asyncio.sleep(0.02)
        victim.kill()
        async with worker(orders(stage, seconds=0.2, streams=True, embeds=0.01)):
            await all_done(stage)
            await stage.slack.quiet()
        replies = stage.slack.replies(question)
        assert [reply.screen.count("Sixteen weeks") for reply in replies] == [1]
        assert "Keep in the library" in replies[0].buttons
        assert len(await attached.documents(named)) == 3


async def test_workers_killed_while_they_work_off_a_press_leave_one_new_answer(stage: Stage) -> None:
    """Each button is pressed twice; each worker has one press and is killed at another moment of it."""
    labels = ["Ask again", "Search the web too"] * 2
    random = Random("kill presses")  # noqa: S311 - the moments are to be the same each time
    async with stage.bot(options=Options(http=True, works=False)):
        questions = [await stage.ada.says(f"@bot How many weeks, {n}?", in_=stage.travel) for n in range(len(labels))]
        async with worker(orders(stage, seconds=0.0, streams=True, at_once=6)):
            firsts = [await stage.slack.reply_to(q, until=lambda one: bool(one.buttons), within=30) for q in questions]
            await all_done(stage)
        for first, label in zip(firsts, labels, strict=True):
            assert [(await stage.ada.clicks(label, on=first)).ok for _ in range(2)] == [True, True]
        victims = [start(orders(stage, seconds=0.6, streams=True)) for _ in questions]
        await stage.slack.until(lambda: any(len(stage.slack.replies(q)) == 2 for q in questions), within=30)
        for victim in victims:
            await asyncio.sleep(random.uniform(0.0, 0.25))
            victim.kill()
        async with worker(orders(stage, seconds=0.2, streams=True, at_once=6)):
            await all_done(stage)
            await stage.slack.quiet()
        for question, label in zip(questions, labels, strict=True):
            _, again = stage.slack.replies(question)
            assert again.is_finished
            assert again.screen.count("Sixteen weeks") == 1
            assert again.buttons[-2:] == ("Helpful", "Not helpful")
            assert ("the web, asked too" in again.screen) == (label == "Search the web too")
            assert stage.slack.status(question) == ""
