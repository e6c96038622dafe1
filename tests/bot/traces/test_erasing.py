import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.erasing import erase_conversation, erase_older
from bot.traces.feedback import give_feedback
from bot.traces.reading import Filter, list_traces, show_trace
from bot.traces.recorder import Recorder
from bot.traces.reviews import Review, add_review
from tests.bot.traces.conftest import FAULT, Record


@pytest.fixture
def recorder(engine: AsyncEngine) -> Recorder:
    """Also keeps what models were sent and what they said."""
    return Recorder(engine, keep_texts=True, settings="0123456789ab", version="1.0")


async def test_an_erased_conversation_leaves_figures_but_no_text_and_nobody(
    engine: AsyncEngine, record: Record
) -> None:
    await record("run1", question="Is my burn-out covered?", faults=(FAULT,))
    await record("run2", conversation="T1:C1:2")
    await give_feedback(engine, team="T1", trace="run1", person="U2", helpful=True, note="burn-out")
    await give_feedback(engine, team="T1", trace="run1", person="U3", helpful=True)
    await add_review(engine, Review(rating="wrong", note="burn-out"), team="T1", trace="run1", reviewer="U7")
    assert await erase_conversation(engine, "T1:C1:1") == 1
    trace = await show_trace(engine, "run1")
    assert trace
    everything = json.dumps([dict(trace.run), *trace.steps, *trace.feedback, *trace.reviews], default=str)
    for gone in ("burn-out", "weeks", "leave.md", "private", "timeout", '"U1"', '"U2"', '"U3"', '"C1"'):
        assert gone not in everything
    assert (trace.run["verdict"], trace.run["calls"], trace.run["review"]) == ("correct", 1, "wrong")
    assert [step["node"] for step in trace.steps] == ["contextualize", "retrieve", "evaluate", "refine", "generate"]
    (call,) = trace.steps[-1]["calls"]
    assert (call["model"], call["prompt_tokens"], call["completion_tokens"]) == ("m", 10, 5)
    assert [vote["helpful"] for vote in trace.feedback] == [True, True]
    assert trace.run["erased_at"]
    other = await show_trace(engine, "run2")
    assert other
    assert other.run["question"]


async def test_the_texts_of_what_is_older_than_the_retention_go(engine: AsyncEngine, record: Record) -> None:
    await record("run1")
    assert await erase_older(engine, datetime.now(UTC) - timedelta(days=1)) == 0
    assert await erase_older(engine, datetime.now(UTC) + timedelta(days=1)) == 1
    assert await erase_older(engine, datetime.now(UTC) + timedelta(days=1)) == 0
    (run,) = (await list_traces(engine, Filter())).runs
    assert (run["question"], run["verdict"], run["helpful"]) == ("", "correct", None)
