from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.erasing import erase_conversation
from bot.traces.feedback import LONGEST_NOTE, give_feedback
from bot.traces.reading import show_trace
from tests.bot.traces.conftest import Record


async def test_a_later_opinion_takes_the_place_of_an_earlier_one(engine: AsyncEngine, record: Record) -> None:
    await record("run1")
    assert await give_feedback(engine, team="T1", trace="run1", person="U2", helpful=True)
    assert await give_feedback(engine, team="T1", trace="run1", person="U2", helpful=False, note="wrong\x00 year")
    trace = await show_trace(engine, "run1")
    assert trace
    assert [(row["person"], row["helpful"], row["note"]) for row in trace.feedback] == [("U2", False, "wrong year")]


async def test_there_is_no_feedback_on_a_trace_of_another_team_an_unknown_or_an_erased_one(
    engine: AsyncEngine, record: Record
) -> None:
    await record("run1")
    assert not await give_feedback(engine, team="T2", trace="run1", person="U2", helpful=True)
    assert not await give_feedback(engine, team="T1", trace="nothing", person="U2", helpful=True)
    await erase_conversation(engine, "T1:C1:1")
    assert not await give_feedback(engine, team="T1", trace="run1", person="U2", helpful=True)


async def test_an_endless_note_is_cut(engine: AsyncEngine, record: Record) -> None:
    await record("run1")
    await give_feedback(engine, team="T1", trace="run1", person="U2", helpful=True, note="x" * 50_000)
    trace = await show_trace(engine, "run1")
    assert trace
    assert len(trace.feedback[0]["note"]) == LONGEST_NOTE
