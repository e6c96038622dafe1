from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.feedback import give_feedback
from bot.traces.reading import CursorError, Filter, list_traces, show_trace
from bot.traces.recorder import RunState
from bot.traces.reviews import Review, add_review
from crag_graph.domain import Abstention, Verdict
from tests.bot.traces.conftest import FAULT, Record

Found = Callable[[Filter], Awaitable[list[str]]]


@pytest.fixture
async def found(engine: AsyncEngine, record: Record) -> Found:
    """Eight traces, newest last; answers which of them a filter finds."""
    await record("plain")
    await record("web", verdict=Verdict.INCORRECT, channel="C2", asker="U2", question="What is 100%_new?")
    await record("none", verdict=Verdict.INCORRECT, abstention=Abstention.WEB_OFF)
    await record("faulty", faults=(FAULT,))
    await record("failed", state=RunState.FAILED)
    await record("stopped", state=RunState.STOPPED)
    await record("going", state=None)
    await record("elsewhere", team="T2")
    await give_feedback(engine, team="T1", trace="plain", person="U9", helpful=True)
    await give_feedback(engine, team="T1", trace="web", person="U9", helpful=False, note="old")
    await add_review(engine, Review(rating="wrong", verdict="correct"), team="T1", trace="web", reviewer="U7")

    async def names(which: Filter) -> list[str]:
        return [run["id"] for run in (await list_traces(engine, which)).runs]

    return names


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (Filter(), ["elsewhere", "going", "stopped", "failed", "faulty", "none", "web", "plain"]),
        (Filter(team="T2"), ["elsewhere"]),
        (Filter(verdict="incorrect"), ["none", "web"]),
        (Filter(channel="C2"), ["web"]),
        (Filter(asker="U2"), ["web"]),
        (Filter(conversation="nobody"), []),
        (Filter(state="failed"), ["failed"]),
        (Filter(state="running"), ["going"]),
        (Filter(state="unfinished"), []),
        (Filter(troubled=True), ["failed", "faulty"]),
        (Filter(abstained=True), ["none"]),
        (Filter(feedback="helpful"), ["plain"]),
        (Filter(feedback="unhelpful"), ["web"]),
        (Filter(feedback="any"), ["web", "plain"]),
        (Filter(team="T1", feedback="none"), ["going", "stopped", "failed", "faulty", "none"]),
        (Filter(review="bad"), ["web"]),
        (Filter(review="good"), []),
        (Filter(text="100%_NEW"), ["web"]),
        (Filter(text="zzz"), []),
        (Filter(slower_than=600_000), []),
        (Filter(until=datetime(2020, 1, 1, tzinfo=UTC)), []),
        (Filter(verdict="correct", since=datetime.now(UTC) + timedelta(days=1)), []),
    ],
)
async def test_traces_are_found_by(found: Found, which: Filter, expected: list[str]) -> None:
    assert await found(which) == expected


async def test_pages_follow_each_other_though_new_traces_arrive(engine: AsyncEngine, record: Record) -> None:
    for number in range(5):
        await record(f"run{number}")
    first = await list_traces(engine, Filter(), limit=2)
    await record("later")
    second = await list_traces(engine, Filter(), after=first.next, limit=2)
    third = await list_traces(engine, Filter(), after=second.next, limit=2)
    assert [[run["id"] for run in page.runs] for page in (first, second, third)] == [
        ["run4", "run3"],
        ["run2", "run1"],
        ["run0"],
    ]
    assert third.next is None


async def test_runs_of_the_same_moment_are_neither_lost_nor_doubled(engine: AsyncEngine, record: Record) -> None:
    for number in range(4):
        await record(f"run{number}")
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE runs SET started_at = now()"))
    first = await list_traces(engine, Filter(), limit=2)
    second = await list_traces(engine, Filter(), after=first.next, limit=2)
    assert [run["id"] for run in (*first.runs, *second.runs)] == ["run3", "run2", "run1", "run0"]


async def test_a_place_that_no_page_named_is_refused(engine: AsyncEngine) -> None:
    with pytest.raises(CursorError, match="not a place"):
        await list_traces(engine, Filter(), after="yesterday")


async def test_another_team_sees_no_trace(engine: AsyncEngine, record: Record) -> None:
    await record("run1")
    assert await show_trace(engine, "run1", team="T2") is None
    assert await show_trace(engine, "run1", team="T1") is not None
