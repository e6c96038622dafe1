import json
from datetime import UTC, datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.erasing import delete_older, erase_conversation, erase_person
from bot.traces.feedback import give_feedback
from bot.traces.reading import Filter, list_traces, show_trace
from tests.bot.traces.conftest import Record


async def test_an_erased_conversation_leaves_numbers_but_no_text(engine: AsyncEngine, record: Record) -> None:
    await record("run1", question="Is my burn-out covered?")
    await record("run2", conversation="T1:C1:2")
    await give_feedback(engine, team="T1", trace="run1", person="U2", helpful=True, note="burn-out")
    assert await erase_conversation(engine, "T1:C1:1") == 1
    trace = await show_trace(engine, "run1")
    assert trace
    assert (trace.steps, trace.feedback) == ((), ())
    everything = json.dumps(dict(trace.run), default=str)
    for gone in ("burn-out", "weeks", "leave.md", "U1", "C1"):
        assert gone not in everything
    assert (trace.run["verdict"], trace.run["calls"]) == ("correct", 1)
    assert trace.run["erased_at"]
    other = await show_trace(engine, "run2")
    assert other
    assert other.run["question"]


async def test_a_person_takes_along_questions_and_opinions(engine: AsyncEngine, record: Record) -> None:
    await record("mine", asker="U1")
    await record("theirs", asker="U2", conversation="T1:C1:2")
    await record("namesake", asker="U1", team="T2", conversation="T2:C1:1")
    await give_feedback(engine, team="T1", trace="theirs", person="U1", helpful=False)
    assert await erase_person(engine, team="T1", person="U1") == 1
    texts = {run["id"]: run["question"] for run in (await list_traces(engine, Filter())).runs}
    assert (texts["mine"], bool(texts["theirs"]), bool(texts["namesake"])) == ("", True, True)
    theirs = await show_trace(engine, "theirs")
    assert theirs
    assert theirs.feedback == ()


async def test_what_is_older_than_the_retention_goes(engine: AsyncEngine, record: Record) -> None:
    await record("run1")
    assert await delete_older(engine, datetime.now(UTC) - timedelta(days=1)) == 0
    assert await delete_older(engine, datetime.now(UTC) + timedelta(days=1)) == 1
    assert (await list_traces(engine, Filter())).runs == ()
