"""What a conversation remembers of a run, and what never leaves it; on the real checkpointers."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

from bot.database.engine import MEMORY_SCHEMA, with_schema
from bot.memory import Memory, open_postgres, open_sqlite
from crag_graph.context import Policy
from crag_graph.domain import Abstention, Kind, Turn, Verdict
from crag_graph.graph import build
from crag_graph.services import ModelReplyError, WebRejectedError
from tests.crag_graph.running import QUICK, Cast, Run, ask
from tests.fakes.services import ScriptedEvaluator, ScriptedWeb, ScriptedWriter, page, passage, trouble

SECRET = "pomegranate"
LEAVE = passage(f"Parental leave lasts twelve weeks ({SECRET}). Adoption leave lasts ten.", title="Handbook")
LAYER = page("Layer normalisation uses one example. Transformers use it.", title="Layer norm")
OLD_FILE = Path(__file__).parent / "checkpoints" / "0.1.0.sqlite"


def handbook() -> Cast:
    writer = ScriptedWriter(answer="Twelve weeks [1].", standalone={"And for adoption?": "How long is adoption leave?"})
    return Cast(passages=[LEAVE], evaluator=ScriptedEvaluator(scores={"leave": 0.9}), writer=writer)


@pytest.fixture(params=["sqlite", "postgres"])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> AbstractAsyncContextManager[Memory]:
    if request.param == "sqlite":
        return open_sqlite(tmp_path / "memory.sqlite", locks=tmp_path)
    return open_postgres(with_schema(request.getfixturevalue("database_url"), MEMORY_SCHEMA), locks=tmp_path)


@pytest.fixture
async def memory(opening: AbstractAsyncContextManager[Memory]) -> AsyncIterator[Memory]:
    async with opening as opened:
        yield opened


async def say(question: str, cast: Cast, memory: Memory, *, thread: str = "talk", policy: Policy | None = None) -> Run:
    graph = build(memory.saver, retry=QUICK)
    try:
        return await ask(question, cast, graph=graph, thread=thread, policy=policy)
    finally:
        await memory.prune(thread)


async def stored(memory: Memory, thread: str = "talk") -> str:
    """All that the checkpointer has of a conversation, as text."""
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    return "\n".join([repr(checkpoint) async for checkpoint in memory.saver.alist(config)])


async def test_the_first_follow_up_uses_the_first_turn(memory: Memory) -> None:
    cast = handbook()
    await say("How long is parental leave?", cast, memory)
    run = await say("And for adoption?", cast, memory)
    (conversation,) = cast.writer.conversations
    assert [turn["question"] for turn in conversation.turns] == ["How long is parental leave?"]
    assert cast.library.queries == ["How long is parental leave?", "How long is adoption leave?"]
    assert run.roles == ["contextualize", "generate"]
    assert [turn["standalone"] for turn in run.state["turns"]] == cast.library.queries


async def test_a_first_question_needs_no_rewriting(memory: Memory) -> None:
    cast = handbook()
    await say("How long is parental leave?", cast, memory)
    assert cast.writer.conversations == []


async def test_a_turn_is_remembered_with_its_answer_and_what_it_cited(memory: Memory) -> None:
    run = await say("How long is parental leave?", handbook(), memory)
    assert run.state["turns"] == [
        Turn(
            question="How long is parental leave?",
            standalone="How long is parental leave?",
            answer="Twelve weeks [1].",
            sources=[{"mark": 1, "kind": "internal", "title": "Handbook", "source": "Handbook.md", "location": ""}],
        )
    ]


async def test_marks_count_from_one_in_every_turn(memory: Memory) -> None:
    cast = handbook()
    await say("How long is parental leave?", cast, memory)
    cast.evaluator.scores = {}
    cast.web = ScriptedWeb(pages=[LAYER])
    cast.writer.answer = "It uses one example [1]."
    run = await say("What is layer normalisation?", cast, memory)
    assert [(c.mark, c.kind, c.title) for c in run.answer.citations] == [(1, Kind.WEB, "Layer norm")]


async def test_an_abstention_is_a_turn_too(memory: Memory) -> None:
    cast = Cast()
    run = await say("What is layer normalisation?", cast, memory)
    assert run.answer.abstention is Abstention.NOTHING_FOUND
    await say("And batch normalisation?", cast, memory)
    assert cast.writer.conversations[0].turns[0]["answer"] == run.answer.text


async def test_nothing_of_one_run_leaks_into_the_next(memory: Memory) -> None:
    cast = handbook()
    cast.web = ScriptedWeb(trouble=trouble(search=[WebRejectedError("wrong key")]))
    cast.evaluator.scores = {"leave": 0.5}
    first = await say("How long is leave?", cast, memory)
    assert first.state["web_missing"] is Abstention.WEB_UNREACHABLE
    cast.evaluator.scores = {"leave": 0.9}
    second = await say("How long is leave?", cast, memory)
    assert second.answer.verdict is Verdict.CORRECT
    assert second.answer.notice == ""
    assert second.state["faults"] == ()
    assert not {"web_query", "pages"} & set(second.state)


async def test_only_turns_and_summary_are_stored(memory: Memory) -> None:
    await say("How long is parental leave?", handbook(), memory)
    found = await memory.saver.aget_tuple({"configurable": {"thread_id": "talk"}})
    assert found is not None
    assert set(found.checkpoint["channel_values"]) <= {"turns", "summary"}
    assert not found.pending_writes
    assert SECRET not in await stored(memory)


@pytest.mark.parametrize("failing", ["evaluate", "filter", "generate"])
async def test_a_run_that_fails_half_way_stores_nothing_that_it_found(memory: Memory, failing: str) -> None:
    cast = handbook()
    await say("How long is parental leave?", cast, memory)
    broken = trouble(**{failing: [ZeroDivisionError("a bug")]})
    (cast.writer if failing == "generate" else cast.evaluator).trouble = broken
    graph = build(memory.saver, retry=QUICK)
    with pytest.raises(ZeroDivisionError):
        await ask("And for adoption?", cast, graph=graph, thread="talk")
    assert SECRET not in await stored(memory)
    run = await say("And for adoption?", cast, memory)
    assert [turn["question"] for turn in run.state["turns"]] == ["How long is parental leave?", "And for adoption?"]


async def test_a_run_that_is_stopped_stores_nothing_that_it_found(memory: Memory) -> None:
    cast = handbook()
    cast.writer.trouble = trouble(generate=[3_600.0])
    task = asyncio.create_task(ask("How long?", cast, graph=build(memory.saver), thread="talk"))
    await asyncio.sleep(0.3)
    assert cast.writer.briefs, "it is writing"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert SECRET not in await stored(memory)
    run = await say("How long?", cast, memory)
    assert len(run.state["turns"]) == 1


async def test_a_failure_that_a_spare_makes_good_stores_nothing_of_it(memory: Memory) -> None:
    cast = handbook()
    cast.writer.trouble = trouble(generate=[ModelReplyError(f"said {SECRET}")])
    cast.spare_writer = ScriptedWriter(quoted=True, answer="Twelve weeks [1].")
    run = await say("How long is parental leave?", cast, memory)
    assert run.answer.quoted
    assert SECRET not in await stored(memory)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
async def test_what_a_run_finds_is_never_stored_however_often_the_graph_is_saved(
    memory: Memory, durability: Literal["sync", "async", "exit"]
) -> None:
    cast = handbook()
    await ask("How long is parental leave?", cast, graph=build(memory.saver), thread="talk", durability=durability)
    assert "How long is parental leave?" in await stored(memory)
    assert SECRET not in await stored(memory)


async def test_conversations_know_nothing_of_each_other(memory: Memory) -> None:
    cast = handbook()
    await say("How long is parental leave?", cast, memory, thread="one")
    run = await say("And for adoption?", cast, memory, thread="two")
    assert len(run.state["turns"]) == 1
    assert cast.writer.conversations == []


async def test_turns_beyond_the_budget_leave_for_the_summary(memory: Memory) -> None:
    cast, policy = handbook(), Policy(memory_tokens=40)
    cast.writer.summary = "They asked about leave."
    questions = [f"How long is parental leave, asked for time number {n}?" for n in range(5)]
    for question in questions:
        run = await say(question, cast, memory, policy=policy)
    assert run.state["summary"] == "They asked about leave."
    assert [turn["question"] for turn in run.state["turns"]] == questions[-2:]
    overflowed = [line for overflow in cast.writer.overflows for line in overflow]
    assert [line.splitlines()[0] for line in overflowed] == [f"Question: {question}" for question in questions[:3]]
    assert cast.writer.briefs[-1].conversation.summary == "They asked about leave."


async def test_without_a_summary_no_turn_is_lost(memory: Memory) -> None:
    cast, policy = handbook(), Policy(memory_tokens=1)
    cast.writer.summary = None
    for n in range(3):
        run = await say(f"How long is leave, number {n}?", cast, memory, policy=policy)
    assert len(run.state["turns"]) == 3
    assert [len(conversation.turns) for conversation in cast.writer.conversations] == [1, 1]


async def test_texts_that_no_database_takes_are_made_fit_to_be_remembered(memory: Memory) -> None:
    cast, policy = handbook(), Policy(memory_tokens=1)
    cast.writer.summary = "They \x00 talked \ud83d."
    cast.writer.answer = "Twelve \x00 weeks \ud83d [1]."
    await say("How long is leave?", cast, memory, policy=policy)
    await say("And then?", cast, memory, policy=policy)
    run = await say("And then?", cast, memory, policy=policy)
    assert run.state["summary"] == "They  talked ?."
    assert run.state["turns"][-1]["answer"] == "Twelve  weeks ? [1]."


async def test_a_checkpoint_of_another_release_loads(memory: Memory) -> None:
    checkpoint = empty_checkpoint()
    old_turn = {
        "question": "How long is parental leave?",
        "standalone": "x",
        "answer": "Long.",
        "sources": [],
        "mood": 1,
    }
    checkpoint["channel_values"] = {
        "turns": [old_turn],
        "summary": "Before.",
        "dropped_channel": {"any": [1, 2.5, None]},
    }
    versions = {name: memory.saver.get_next_version(None, None) for name in checkpoint["channel_values"]}
    checkpoint["channel_versions"] = versions
    config: RunnableConfig = {"configurable": {"thread_id": "talk", "checkpoint_ns": ""}}
    await memory.saver.aput(config, checkpoint, {"source": "loop", "step": 7, "parents": {}}, versions)
    cast = handbook()
    run = await say("And for adoption?", cast, memory)
    assert cast.writer.conversations[0].summary == "Before."
    assert [turn["answer"] for turn in run.state["turns"]] == ["Long.", "Twelve weeks [1]."]


async def test_the_file_of_an_older_release_loads(tmp_path: Path) -> None:
    shutil.copy(OLD_FILE, tmp_path / "memory.sqlite")
    cast = handbook()
    async with open_sqlite(tmp_path / "memory.sqlite", locks=tmp_path) as memory:
        run = await say("And for adoption?", cast, memory)
    assert [turn["question"] for turn in run.state["turns"]] == [
        "How long is parental leave?",
        "Is it paid?",
        "And for adoption?",
    ]


async def test_a_hundred_turns_fit_into_200_kb(tmp_path: Path) -> None:
    cast = handbook()
    cast.writer.answer = "Twelve weeks, paid in full, for each parent, in one piece or several [1]. " * 8
    async with open_sqlite(tmp_path / "memory.sqlite", locks=tmp_path) as memory:
        for n in range(100):
            await say(f"How long is parental leave for employee number {n}?", cast, memory)
        assert size(tmp_path) <= 200_000
    assert size(tmp_path) <= 200_000


def size(folder: Path) -> int:
    """Bytes of the file and of what SQLite keeps beside it."""
    return sum(file.stat().st_size for file in folder.glob("memory.sqlite*"))
