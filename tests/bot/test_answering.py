import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.answering import AnswerFailedError, Answering, QuestionError
from bot.database.engine import open_engine
from bot.memory import Memory, open_sqlite
from bot.traces.reading import Filter, Trace, list_traces, show_trace
from crag_graph.domain import Kind, Progress, Stage, TextDelta, Turn, Verdict
from crag_graph.services import LibraryError, ModelRejectedError, Services
from tests.bot.conftest import LEAVE, compose, question, quietly
from tests.fakes.services import ScriptedLibrary, ScriptedWriter, trouble


async def latest(engine: AsyncEngine) -> Trace:
    newest = (await list_traces(engine, Filter(), limit=1)).runs[0]
    trace = await show_trace(engine, newest["id"])
    assert trace
    return trace


async def turns(answering: Answering, conversation: str = "T1:C1:1") -> list[Turn]:
    state = await answering._graph.aget_state({"configurable": {"thread_id": conversation}})
    return list(state.values.get("turns", []))


async def test_an_answer_comes_with_how_it_came_about(answering: Answering) -> None:
    answered = await answering.answer(question(), quietly)
    assert answered.answer.verdict is Verdict.CORRECT
    assert [(citation.mark, citation.kind) for citation in answered.answer.citations] == [(1, Kind.INTERNAL)]
    assert [(judged.passage.id, judged.score.value, judged.kept) for judged in answered.passages] == [
        (LEAVE.id, 0.9, True)
    ]
    assert (len(answered.strips), [call.role for call in answered.calls]) == (1, ["generate"])
    assert list(answered.timings) == ["contextualize", "retrieve", "evaluate", "refine", "generate"]


async def test_progress_is_shown_as_it_happens(answering: Answering) -> None:
    shown: list[Progress] = []

    async def show(progress: Progress) -> None:
        shown.append(progress)

    answered = await answering.answer(question(), show)
    stages = [progress for progress in shown if isinstance(progress, Stage)]
    assert [stage.node for stage in stages] == ["contextualize", "retrieve", "evaluate", "refine", "generate"]
    assert [stage.detail for stage in stages[3:]] == ["correct", "correct"]
    streamed = "".join(progress.text for progress in shown if isinstance(progress, TextDelta))
    assert streamed.strip() == answered.answer.text


async def test_a_progress_display_that_fails_does_not_harm_the_answer(answering: Answering) -> None:
    async def show(progress: Progress) -> None:
        raise OSError("the terminal is gone")

    assert (await answering.answer(question(), show)).answer.text


async def test_the_trace_is_closed_with_the_answer(answering: Answering, engine: AsyncEngine) -> None:
    answered = await answering.answer(replace(question(), channel="C1", permalink="https://slack/p1"), quietly)
    trace = await latest(engine)
    assert trace.run["id"] == answered.trace_id
    assert (trace.run["state"], trace.run["channel"], trace.run["permalink"]) == ("answered", "C1", "https://slack/p1")
    assert trace.run["answer"] == answered.answer.text
    assert [step["node"] for step in trace.steps] == list(answered.timings)


async def test_a_conversation_remembers_its_turns(answering: Answering) -> None:
    await answering.answer(question(), quietly)
    await answering.answer(question("And for adoption?"), quietly)
    await answering.answer(question("Hello?", conversation="T1:C1:2"), quietly)
    assert [turn["question"] for turn in await turns(answering)] == ["How long is parental leave?", "And for adoption?"]


async def test_a_one_off_history_is_used_and_nothing_is_remembered(answering: Answering, services: Services) -> None:
    before = Turn(question="What is a forest?", standalone="What is a forest?", answer="Many trees.", sources=[])
    answered = await answering.answer(replace(question("And a tree?"), history=(before,)), quietly)
    writer = services.writer
    assert isinstance(writer, ScriptedWriter)
    assert writer.conversations[0].turns == (before,)
    assert answered.answer.text
    assert await turns(answering) == []


@pytest.mark.parametrize(
    ("text", "says"), [("", "empty"), (" \x00\n", "empty"), ("x" * 40_000, "40,000"), ("x" * 100_000, "100,000")]
)
async def test_an_empty_or_endless_question_is_refused_and_leaves_nothing(
    answering: Answering, engine: AsyncEngine, text: str, says: str
) -> None:
    with pytest.raises(QuestionError, match=says):
        await answering.answer(question(text), quietly)
    assert (await list_traces(engine, Filter())).runs == ()
    assert await turns(answering) == []


async def test_a_very_long_question_that_is_allowed_is_answered(answering: Answering) -> None:
    assert (await answering.answer(question("How long? " * 3_900), quietly)).answer.text


async def test_nul_and_lone_surrogates_are_cleaned_away(answering: Answering, engine: AsyncEngine) -> None:
    asked = replace(question("par\x00ental \ud800 leave?"), conversation="T1:C1:\x001", chatter=("Ann: \x00hi \udfff",))
    answered = await answering.answer(asked, quietly)
    assert answered.question == "parental \ufffd leave?"
    assert (await latest(engine)).run["question"] == answered.question
    assert [turn["question"] for turn in await turns(answering)] == [answered.question]


async def test_a_stopped_run_is_traced_as_stopped_and_the_conversation_stays_as_it_was(
    services: Services, memory: Memory, engine: AsyncEngine
) -> None:
    first = compose(services, memory, engine)
    await first.answer(question(), quietly)
    writing = asyncio.Event()
    slow = compose(replace(services, writer=ScriptedWriter(trouble=trouble(generate=[30.0]))), memory, engine)

    async def show(progress: Progress) -> None:
        if isinstance(progress, TextDelta):
            writing.set()

    run = asyncio.create_task(slow.answer(question("And for adoption?"), show))
    await writing.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    trace = await latest(engine)
    assert (trace.run["state"], trace.run["question"]) == ("stopped", "And for adoption?")
    assert [step["node"] for step in trace.steps] == ["contextualize", "retrieve", "evaluate", "refine"]
    assert [turn["question"] for turn in await turns(first)] == ["How long is parental leave?"]
    await first.answer(question("Once more?"), quietly)
    assert [turn["question"] for turn in await turns(first)] == ["How long is parental leave?", "Once more?"]


async def test_a_service_that_is_away_is_said_in_its_words_and_traced(
    services: Services, memory: Memory, engine: AsyncEngine
) -> None:
    library = ScriptedLibrary(spaces={}, trouble=trouble(search=[LibraryError("secret host")] * 3))
    answering = compose(replace(services, library=library), memory, engine)
    with pytest.raises(AnswerFailedError, match="The library is not reachable") as caught:
        await answering.answer(question(), quietly)
    assert caught.value.transient
    assert "secret host" not in str(caught.value)
    trace = await latest(engine)
    assert (trace.run["id"], trace.run["state"]) == (caught.value.trace_id, "failed")
    assert "LibraryError" in trace.run["error"]
    assert await turns(answering) == []


async def test_a_model_that_rejects_us_without_a_spare_fails_for_good(
    services: Services, memory: Memory, engine: AsyncEngine
) -> None:
    writer = ScriptedWriter(trouble=trouble(generate=[ModelRejectedError("bad key sk-1")]))
    with pytest.raises(AnswerFailedError) as caught:
        await compose(replace(services, writer=writer), memory, engine).answer(question(), quietly)
    assert not caught.value.transient
    assert "sk-1" not in str(caught.value)


async def test_what_takes_over_from_a_failed_node_is_a_step_of_that_node(
    services: Services, memory: Memory, engine: AsyncEngine
) -> None:
    writer = ScriptedWriter(trouble=trouble(generate=[ModelRejectedError("bad key")]))
    spared = replace(services, writer=writer, spare_writer=ScriptedWriter(quoted=True))
    answered = await compose(spared, memory, engine).answer(question(), quietly)
    assert answered.answer.quoted
    assert [fault.kind for fault in answered.faults] == ["ModelRejectedError"]
    trace = await latest(engine)
    assert (trace.steps[-1]["node"], trace.steps[-1]["faults"][0]["kind"]) == ("generate", "ModelRejectedError")


async def test_an_answer_that_the_memory_has_no_room_for_is_given_all_the_same(
    services: Services, engine: AsyncEngine, tmp_path: Path
) -> None:
    async with open_sqlite(tmp_path / "full.sqlite", locks=tmp_path / "locks") as memory:
        answering = compose(services, memory, engine)
        await answering.answer(question(), quietly)
        await memory.saver.conn.execute("PRAGMA max_page_count = 1")
        answered = await answering.answer(question("And for adoption? " * 500), quietly)
        assert "weeks" in answered.answer.text
        assert "could not be remembered" in answered.answer.notice
        assert [turn["question"] for turn in await turns(answering)] == ["How long is parental leave?"]
    trace = await latest(engine)
    assert (trace.run["state"], trace.run["faults"]) == ("answered", 1)
    assert trace.steps[-1]["faults"][0]["where"] == "memory"


async def test_an_error_of_our_own_is_one_short_apology_with_the_trace(
    services: Services, memory: Memory, engine: AsyncEngine
) -> None:
    library = ScriptedLibrary(spaces={}, trouble=trouble(search=[ZeroDivisionError("x / 0")]))
    with pytest.raises(AnswerFailedError, match=r"^Something went wrong while answering\.$") as caught:
        await compose(replace(services, library=library), memory, engine).answer(question(), quietly)
    assert caught.value.trace_id


async def test_without_the_database_the_asker_is_told_at_once(services: Services, memory: Memory) -> None:
    engine = open_engine("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(AnswerFailedError, match="database is not reachable") as caught:
        await compose(services, memory, engine).answer(question(), quietly)
    assert caught.value.transient
    await engine.dispose()


async def test_questions_of_one_conversation_wait_for_each_other_and_no_turn_is_lost(answering: Answering) -> None:
    asked = [f"Question {number}?" for number in range(12)]
    await asyncio.gather(*(answering.answer(question(text), quietly) for text in asked))
    assert [turn["question"] for turn in await turns(answering)] == asked


async def test_conversations_do_not_wait_for_each_other(
    services: Services, memory: Memory, engine: AsyncEngine
) -> None:
    slow = compose(replace(services, writer=ScriptedWriter(trouble=trouble(generate=[0.3] * 20))), memory, engine)
    start = asyncio.get_running_loop().time()
    await asyncio.gather(*(slow.answer(question(conversation=f"T1:C1:{n}"), quietly) for n in range(20)))
    assert asyncio.get_running_loop().time() - start < 2.0


async def test_a_hundred_turns_take_less_than_200_kilobytes(
    services: Services, memory: Memory, engine: AsyncEngine, tmp_path: Path
) -> None:
    answering = compose(replace(services, writer=ScriptedWriter(answer="Sixteen weeks. [1] " * 50)), memory, engine)
    for number in range(100):
        await answering.answer(question(f"How long is parental leave in year {number}?"), quietly)
    assert size(tmp_path) < 200_000


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("memory.sqlite*"))


async def test_forgetting_erases_what_was_remembered_and_what_the_traces_say(
    answering: Answering, engine: AsyncEngine
) -> None:
    await answering.answer(question("Is burn-out covered?"), quietly)
    forgotten = await answering.forget("T1:C1:1")
    assert (forgotten.remembered, forgotten.traces) == (True, 1)
    assert await turns(answering) == []
    assert (await latest(engine)).run["question"] == ""
    again = await answering.forget("T1:C1:1")
    assert (again.remembered, again.traces) == (False, 0)


async def test_one_line_is_logged_and_holds_no_word_of_what_was_said(answering: Answering) -> None:
    with structlog.testing.capture_logs() as lines:
        await answering.answer(question(), quietly)
    (line,) = lines
    assert (line["event"], line["state"], line["verdict"], line["calls"]) == ("question", "answered", "correct", 1)
    for word in ("parental", "weeks"):
        assert word not in str(line)


async def test_a_question_that_is_asked_again_takes_the_place_of_its_turn(answering: Answering) -> None:
    await answering.answer(question(), quietly)
    await answering.answer(question("And the second one?"), quietly)
    await answering.answer(replace(question(), retakes=question().text), quietly)
    assert [turn["question"] for turn in await turns(answering)] == ["And the second one?", question().text]


@pytest.mark.parametrize("trouble_", [ModelRejectedError("bad key"), ZeroDivisionError("x / 0")])
async def test_a_turn_stays_where_asking_again_fails(
    services: Services, memory: Memory, engine: AsyncEngine, trouble_: Exception
) -> None:
    writer = ScriptedWriter()
    answering = compose(replace(services, writer=writer), memory, engine)
    await answering.answer(question(), quietly)
    writer.trouble = trouble(generate=[trouble_])
    with pytest.raises(AnswerFailedError):
        await answering.answer(replace(question(), retakes=question().text), quietly)
    assert [turn["question"] for turn in await turns(answering)] == [question().text]
