from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.reading import show_trace
from bot.traces.recorder import Recorder, RunState
from tests.bot.traces.conftest import CALL, FAULT, Record, opening


async def test_a_trace_tells_what_each_step_learnt(engine: AsyncEngine, record: Record) -> None:
    await record("run1", faults=(FAULT,))
    trace = await show_trace(engine, "run1")
    assert trace
    assert [step["node"] for step in trace.steps] == ["contextualize", "retrieve", "evaluate", "refine", "generate"]
    details = {step["node"]: step["detail"] for step in trace.steps}
    assert details["retrieve"]["passages"][0]["text"] == "Parents get 16 weeks. Adoption counts the same."
    assert "features" not in details["retrieve"]["passages"][0]
    assert details["evaluate"]["scores"] == [{"value": 0.9, "reason": "says so"}]
    assert details["refine"]["strips"][0]["strip"]["text"] == "Parents get 16 weeks."
    assert details["refine"]["strips"][0]["strip"]["passage"] == "p1"
    assert "turns" not in details["generate"]
    assert trace.steps[1]["faults"][0]["kind"] == "WebBusyError"


async def test_the_row_of_a_run_sums_it_up(engine: AsyncEngine, record: Record) -> None:
    await record("run1", faults=(FAULT,))
    trace = await show_trace(engine, "run1")
    assert trace
    run = trace.run
    assert (run["state"], run["verdict"], run["reason"]) == ("answered", "correct", "because")
    assert (run["answer"], run["citations"][0]["quote"]) == ("16 weeks [1].", "16 weeks")
    assert (run["calls"], run["prompt_tokens"], run["completion_tokens"], run["faults"]) == (1, 10, 5, 1)
    assert (run["settings"], run["version"]) == ("0123456789ab", "1.0")
    assert run["finished_at"] >= run["started_at"]


async def test_prompts_and_replies_are_kept_only_where_the_setting_says_so(engine: AsyncEngine, record: Record) -> None:
    await record("run1")
    trace = await show_trace(engine, "run1")
    assert trace
    assert (trace.steps[-1]["calls"][0]["prompt"], trace.steps[-1]["calls"][0]["model"]) == ("", "m")

    keeping = Recorder(engine, keep_texts=True, settings="", version="")
    opened = await keeping.open(opening("run2"))
    opened.journal.write("generate", {"calls": (CALL,)})
    await opened.close(RunState.ANSWERED)
    trace = await show_trace(engine, "run2")
    assert trace
    assert trace.steps[-1]["calls"][0]["prompt"] == "private"


async def test_a_run_that_was_killed_shows_as_unfinished(engine: AsyncEngine, record: Record) -> None:
    await record("run1", state=None)
    trace = await show_trace(engine, "run1")
    assert trace
    assert (trace.run["state"], trace.steps) == ("running", ())
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE runs SET started_at = started_at - interval '1 hour'"))
    trace = await show_trace(engine, "run1")
    assert trace
    assert trace.run["state"] == "unfinished"


async def test_hostile_text_is_stored_cleaned(engine: AsyncEngine, record: Record) -> None:
    await record("run1", question="a\x00b \ud800 \\u0000 ' ; DROP TABLE runs")
    trace = await show_trace(engine, "run1")
    assert trace
    assert trace.run["question"] == "ab \ufffd \\u0000 ' ; DROP TABLE runs"


async def test_a_trace_that_was_erased_while_its_run_went_on_stays_erased(
    engine: AsyncEngine, recorder: Recorder, record: Record
) -> None:
    trace = await record("run1", state=None)
    assert await recorder.erase_conversation("T1:C1:1") == 1
    await trace.close(RunState.ANSWERED)
    assert await show_trace(engine, "run1") is None
