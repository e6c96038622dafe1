"""Finds traces: a page of a filtered list, newest first, and one trace whole."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Column, ColumnElement, Float, RowMapping, Select, Text, case, exists, func, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.tables import feedback, reviews, runs, steps

UNFINISHED_AFTER = timedelta(minutes=15)
"""A run that has been going on for longer was killed: a question's deadline is 10 minutes at most."""

NEWEST = 3_000
"""Traces that are looked through for a text before its index is."""
TRIGRAM = re.compile(r"\w{3}")
BEGINNING = 300
"""Characters of a text that a list shows."""

Row = Mapping[str, Any]


class CursorError(ValueError):
    """The place in the list is not one that an earlier page named."""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which traces; what is None or False does not filter. `slower_than` in milliseconds."""

    team: str | None = None
    channel: str | None = None
    asker: str | None = None
    conversation: str | None = None
    verdict: str | None = None
    state: Literal["running", "unfinished", "answered", "stopped", "failed"] | None = None
    feedback: Literal["helpful", "unhelpful", "any", "none"] | None = None
    review: Literal["good", "wrong", "incomplete", "bad", "any", "none", "judged"] | None = None
    """By the newest rating; `bad` is wrong or incomplete, `judged` also what was reviewed without a rating."""
    model: str | None = None
    """The chat model that wrote."""
    since: datetime | None = None
    until: datetime | None = None
    troubled: bool = False
    """Failed, or something was worked around."""
    abstained: bool = False
    slower_than: float | None = None
    text: str | None = None
    """Occurs in the question or in the answer, whatever the case."""
    reruns: bool = False
    """Also what reviewers tried again."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """Some traces, and where the next page begins (None: this was the last)."""

    runs: tuple[Row, ...]
    next: str | None


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A trace whole."""

    run: Row
    steps: tuple[Row, ...]
    feedback: tuple[Row, ...]
    reviews: tuple[Row, ...]


async def list_traces(
    engine: AsyncEngine, which: Filter, *, after: str | None = None, limit: int = 50, brief: bool = False
) -> Page:
    """At most `limit` traces, newest first, after the place that an earlier page named. Raises CursorError.

    `brief`: of long texts the beginning. A text without three letters in a row is looked for in the newest few
    thousand traces.
    """
    conditions = _conditions(which)
    if after:
        conditions.append(tuple_(runs.c.started_at, runs.c.id) < tuple_(*_place(after)))
    async with engine.connect() as connection:
        rows: Sequence[RowMapping] = ()
        for chosen in _chosen(conditions, which.text, limit + 1):
            rows = (await connection.execute(_these(chosen, brief=brief))).mappings().all()
            if len(rows) > limit:
                break
    return Page(runs=_rows(rows[:limit]), next=_name(rows[limit - 1]) if len(rows) > limit else None)


async def show_trace(engine: AsyncEngine, trace: str, *, team: str | None = None) -> Trace | None:
    """The trace with this id, where the team has it."""
    chosen = _listed().where(runs.c.id == trace, *([runs.c.team == team] if team else []))
    async with engine.connect() as connection:
        run = (await connection.execute(chosen)).mappings().first()
        if run is None:
            return None
        parts = [
            (await connection.execute(select(table).where(table.c.run == trace).order_by(order))).mappings().all()
            for table, order in (
                (steps, steps.c.ordinal),
                (feedback, feedback.c.given_at),
                (reviews, reviews.c.id.desc()),
            )
        ]
    return Trace(run=dict(run), steps=_rows(parts[0]), feedback=_rows(parts[1]), reviews=_rows(parts[2]))


async def find_run(engine: AsyncEngine, trace: str, *, team: str) -> Row | None:
    """The run of a trace of the team, without its steps; None where it was erased."""
    known = select(runs).where(runs.c.id == trace, runs.c.team == team, runs.c.erased_at.is_(None))
    async with engine.connect() as connection:
        run = (await connection.execute(known)).mappings().first()
    return dict(run) if run else None


async def latest_question(engine: AsyncEngine, *, conversation: str, permalink: str) -> str:
    """What a message asked when it was answered last; empty where it was not, or is forgotten."""
    asked = select(runs.c.question).where(runs.c.conversation == conversation, runs.c.permalink == permalink)
    async with engine.connect() as connection:
        return (await connection.execute(asked.order_by(runs.c.started_at.desc()).limit(1))).scalar() or ""


def _chosen(conditions: Sequence[ColumnElement[bool]], wanted: str | None, limit: int) -> Iterator[Select[Any]]:
    """Ways to the ids of the traces on a page; where the first finds too few, the next one finds them all.

    An index holds everything that is filtered by but the texts. A common text is found soon among the newest traces; a
    rare one is found by its trigrams, which would find a common one far too often.
    """
    newest = select(runs.c.id).where(*conditions).order_by(runs.c.started_at.desc(), runs.c.id.desc())
    if not wanted:
        yield newest.limit(limit)
        return
    recent = newest.limit(NEWEST).cte("recent").prefix_with("MATERIALIZED")
    holds = or_(*(column.icontains(wanted, autoescape=True) for column in (runs.c.question, runs.c.answer)))
    among = select(runs.c.id).where(runs.c.id.in_(select(recent.c.id)), holds)
    yield among.order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(limit)
    if TRIGRAM.search(wanted):
        matching = select(runs.c.id).where(holds).cte("matching").prefix_with("MATERIALIZED")
        yield newest.where(runs.c.id.in_(select(matching.c.id))).limit(limit)


def _these(chosen: Select[Any], *, brief: bool) -> Select[Any]:
    ids = chosen.cte("chosen")
    return (
        _listed(brief=brief).where(runs.c.id.in_(select(ids.c.id))).order_by(runs.c.started_at.desc(), runs.c.id.desc())
    )


def _rows(found: Iterable[RowMapping]) -> tuple[Row, ...]:
    return tuple(dict(row) for row in found)


def _listed(*, brief: bool = False) -> Select[Any]:
    unfinished = (runs.c.state == "running") & (runs.c.started_at < func.now() - UNFINISHED_AFTER)
    state = case((unfinished, "unfinished"), else_=runs.c.state).label("state")
    columns = [_begun(column) if brief else column for column in runs.c if column.name != "state"]
    helpful = select(func.avg(case((feedback.c.helpful, 1.0), else_=0.0)).cast(Float)).where(
        feedback.c.run == runs.c.id
    )
    return select(
        *columns, state, helpful.scalar_subquery().label("helpful"), runs.c.review.is_not(None).label("reviewed")
    )


def _begun(column: Column[Any]) -> ColumnElement[Any]:
    if not isinstance(column.type, Text):
        return column
    return func.left(column, BEGINNING).label(column.name)


def _conditions(which: Filter) -> list[ColumnElement[bool]]:
    return [*_equal(which), *_within(which), *_judged(which)]


def _equal(which: Filter) -> list[ColumnElement[bool]]:
    wanted = {name: getattr(which, name) for name in ("team", "channel", "asker", "conversation", "verdict", "model")}
    conditions: list[ColumnElement[bool]] = [
        runs.c[name] == value for name, value in wanted.items() if value is not None
    ]
    if not which.reruns:
        conditions.append(runs.c.rerun_of == "")
    overdue = runs.c.started_at < func.now() - UNFINISHED_AFTER
    if which.state == "unfinished":
        conditions.append((runs.c.state == "running") & overdue)
    elif which.state == "running":
        conditions.append((runs.c.state == "running") & ~overdue)
    elif which.state:
        conditions.append(runs.c.state == which.state)
    return conditions


def _within(which: Filter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if which.since:
        conditions.append(runs.c.started_at >= which.since)
    if which.until:
        conditions.append(runs.c.started_at < which.until)
    if which.slower_than is not None:
        conditions.append(runs.c.milliseconds > which.slower_than)
    return conditions


def _judged(which: Filter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if which.troubled:
        conditions.append(or_(runs.c.state == "failed", runs.c.faults > 0))
    if which.abstained:
        conditions.append(runs.c.abstention.is_not(None))
    if which.feedback:
        conditions.append(_has(feedback, feedback.c.helpful, which.feedback, {"helpful": True, "unhelpful": False}))
    if which.review:
        conditions.append(_reviewed(which.review))
    return conditions


def _reviewed(wanted: str) -> ColumnElement[bool]:
    match wanted:
        case "none":
            return runs.c.review.is_(None)
        case "any":
            return runs.c.review.is_not(None)
        case "judged":
            return exists().where(reviews.c.run == runs.c.id)
        case "bad":
            return runs.c.review.in_(["wrong", "incomplete"])
        case _:
            return runs.c.review == wanted


def _has(table: Any, column: Any, wanted: str, values: Mapping[str, bool]) -> ColumnElement[bool]:
    found = exists().where(table.c.run == runs.c.id)
    if wanted in values:
        found = found.where(column.is_(values[wanted]))
    return ~found if wanted == "none" else found


def _name(row: RowMapping) -> str:
    return f"{row['started_at'].isoformat()}_{row['id']}"


def _place(name: str) -> tuple[datetime, str]:
    moment, _, run = name.partition("_")
    try:
        return datetime.fromisoformat(moment), run
    except ValueError:
        raise CursorError(f"{name!r} is not a place in the list of traces.") from None
