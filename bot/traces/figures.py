"""What the traces of a while add up to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import CTE, ColumnElement, Date, DateTime, case, cast, func, select, text, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.traces.tables import feedback, runs, steps

SUMS = ("questions", "abstained", "troubled", "prompt_tokens", "completion_tokens")
ROOM = "SET LOCAL work_mem = '64MB'"
"""Postgres expects a group for every question, and would sort them on the disk."""
SAMPLE = 1_000
"""Runs that the times are taken from, the newest ones: enough for a 95th percentile, and the same work every day."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Questions that have something in common, and what they used."""

    key: str
    questions: int
    abstained: int
    troubled: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, kw_only=True)
class Times:
    """Milliseconds that half of the runs, and 95 of 100, kept below."""

    name: str
    median: float
    p95: float


@dataclass(frozen=True, kw_only=True)
class Figures:
    """`days`: questions by day and verdict (empty: none). `helpful`, `unhelpful`: opinions given meanwhile."""

    days: Sequence[tuple[date, str, int]]
    whole: Tally
    verdicts: Sequence[Tally]
    channels: Sequence[Tally]
    models: Sequence[Tally]
    run: Times | None
    steps: Sequence[Times]
    helpful: int
    unhelpful: int


async def figures(engine: AsyncEngine, *, team: str, since: datetime, slot: str = "day") -> Figures:
    """The figures of a team's questions since then; `slot`: day, week or month."""
    async with engine.connect() as connection:
        await connection.execute(text(ROOM))
        days, tallies = await _added(connection, team, since, slot)
        whole, *by_step = await _times(connection, team, since)
        helpful, unhelpful = await _opinions(connection, team, since)
    return Figures(
        days=days,
        whole=next(
            iter(tallies["whole"]),
            Tally(key="", questions=0, abstained=0, troubled=0, prompt_tokens=0, completion_tokens=0),
        ),
        verdicts=tallies["verdict"],
        channels=tallies["channel"],
        models=tallies["model"],
        run=whole,
        steps=[step for step in by_step if step],
        helpful=helpful,
        unhelpful=unhelpful,
    )


def _asked(team: str, since: datetime) -> tuple[ColumnElement[bool], ...]:
    return runs.c.team == team, runs.c.started_at >= since, runs.c.rerun_of == ""


def _cells(team: str, since: datetime, slot: str) -> CTE:
    """One pass over the index: what is then added up in several ways is a hundred times less."""
    day = cast(func.timezone("UTC", runs.c.started_at), Date)
    key = (day, runs.c.verdict, runs.c.channel, runs.c.model)
    by_day = (
        select(
            day.label("day"),
            func.coalesce(runs.c.verdict, "").label("verdict"),
            runs.c.channel,
            runs.c.model,
            func.count().label("questions"),
            func.count(runs.c.abstention).label("abstained"),
            func.count().filter((runs.c.state == "failed") | (runs.c.faults > 0)).label("troubled"),
            func.sum(runs.c.prompt_tokens).label("prompt_tokens"),
            func.sum(runs.c.completion_tokens).label("completion_tokens"),
        )
        .where(*_asked(team, since))
        .group_by(*key)
        .subquery()
    )
    start = cast(func.date_trunc(slot, cast(by_day.c.day, DateTime)), Date).label("start")
    return select(start, *by_day.c).cte("cells").prefix_with("MATERIALIZED")


async def _added(
    connection: AsyncConnection, team: str, since: datetime, slot: str
) -> tuple[list[tuple[date, str, int]], dict[str, list[Tally]]]:
    """Questions by time and verdict, and the tallies by verdict, by channel, by model and as a whole."""
    cells = _cells(team, since, slot)
    start, verdict, channel, model = cells.c.start, cells.c.verdict, cells.c.channel, cells.c.model
    group = case(
        (func.grouping(start) == 0, "day"),
        (func.grouping(verdict) == 0, "verdict"),
        (func.grouping(channel) == 0, "channel"),
        (func.grouping(model) == 0, "model"),
        else_="whole",
    )
    sums = [func.sum(cells.c[name]) for name in SUMS]
    sets = (tuple_(start, verdict), tuple_(verdict), tuple_(channel), tuple_(model), tuple_())
    query = (
        select(group, start, func.coalesce(verdict, channel, model, ""), *sums)
        .group_by(func.grouping_sets(*sets))
        .order_by(func.sum(cells.c.questions).desc())
    )
    days: list[tuple[date, str, int]] = []
    tallies: dict[str, list[Tally]] = {"verdict": [], "channel": [], "model": [], "whole": []}
    for name, day, *values in await connection.execute(query):
        if name == "day":
            days.append((day, values[0], int(values[1])))
        else:
            tallies[name].append(_tally(values))
    return days, tallies


def _tally(values: Sequence[object]) -> Tally:
    key, *numbers = values
    questions, abstained, troubled, prompt_tokens, completion_tokens = (int(str(number or 0)) for number in numbers)
    return Tally(
        key=str(key),
        questions=questions,
        abstained=abstained,
        troubled=troubled,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
    )


async def _times(connection: AsyncConnection, team: str, since: datetime) -> list[Times | None]:
    """Of whole runs first, then of each step."""
    sample = (
        select(runs.c.id, runs.c.milliseconds)
        .where(*_asked(team, since), runs.c.milliseconds.is_not(None))
        .order_by(runs.c.started_at.desc(), runs.c.id.desc())
        .limit(SAMPLE)
        .cte("sample")
    )
    whole = (await connection.execute(select(*_percentiles(sample.c.milliseconds)))).one()
    by_step = (
        select(steps.c.node, *_percentiles(steps.c.milliseconds))
        .join(sample, sample.c.id == steps.c.run)
        .group_by(steps.c.node)
    )
    found = (await connection.execute(by_step)).all()
    return [_named("whole", tuple(whole)), *(_named(row[0], tuple(row[1:])) for row in found)]


def _percentiles(column: ColumnElement[float]) -> tuple[ColumnElement[float], ColumnElement[float]]:
    return func.percentile_cont(0.5).within_group(column), func.percentile_cont(0.95).within_group(column)


def _named(name: str, row: Sequence[float | None]) -> Times | None:
    median, p95 = tuple(row)
    return None if median is None or p95 is None else Times(name=name, median=median, p95=p95)


async def _opinions(connection: AsyncConnection, team: str, since: datetime) -> tuple[int, int]:
    query = select(func.count().filter(feedback.c.helpful), func.count().filter(feedback.c.helpful.is_(False))).where(
        feedback.c.team == team, feedback.c.given_at >= since
    )
    helpful, unhelpful = (await connection.execute(query)).one()
    return helpful, unhelpful
