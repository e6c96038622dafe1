"""Questions without a good answer, grouped by meaning: what the library lacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import ARRAY, ColumnElement, Select, Text, and_, exists, func, insert, or_, select, text, update
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.traces.reading import Row
from bot.traces.tables import feedback, gap_runs, gaps, runs
from crag_graph.embedding import Embedder

State = Literal["open", "written", "fixed"]
"""Nobody has done anything · somebody has written what was missing · it is answered now."""

NEAR = 0.72
"""Similarity (cosine) from which on two questions count as the same: paraphrases have it, mere neighbours do not."""
LOOK_BACK = timedelta(days=90)
MOST_GAPS = 200
MOST_RUNS = 100
GUARD = 0x67617073  # key of the advisory lock of whoever groups


class GapStateError(ValueError):
    """A gap is open, written or fixed."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A group. `example`: its newest question; `unanswered` and `rated`: how many of `questions` are what."""

    id: int
    state: str
    changed_by: str
    questions: int
    unanswered: int
    rated: int
    last: datetime
    example: str
    run: str
    """The trace of the example."""


async def waiting(engine: AsyncEngine, *, team: str, model: str) -> int:
    """How many questions are not in a group yet."""
    async with engine.connect() as connection:
        counted = select(func.count()).select_from(_new(team, model).subquery())
        return int((await connection.execute(counted)).scalar_one())


async def group(engine: AsyncEngine, embedder: Embedder, *, team: str, limit: int) -> int:
    """Puts new questions into groups, oldest first; returns how many. Raises a ServiceError of the embedder."""
    async with engine.connect() as connection:
        new = (await connection.execute(_new(team, embedder.name).order_by(runs.c.started_at).limit(limit))).all()
    if not new:
        return 0
    vectors = await embedder.embed([row.standalone or row.question for row in new])
    async with engine.begin() as connection:
        await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": GUARD})
        for row, vector in zip(new, vectors, strict=True):
            await _place(connection, row.id, vector, team=team, model=embedder.name)
    return len(new)


async def list_gaps(engine: AsyncEngine, *, team: str, state: str | None = None) -> tuple[Gap, ...]:
    """The largest ones first."""
    wanted = [gaps.c.state == state] if state else []
    async with engine.connect() as connection:
        found = await connection.execute(_listed(team).where(*wanted))
        return tuple(Gap(**row) for row in found.mappings())


async def show_gap(engine: AsyncEngine, gap: int, *, team: str) -> tuple[Gap, tuple[Row, ...]] | None:
    """A group and its newest questions."""
    members = (
        select(runs)
        .join(gap_runs, gap_runs.c.run == runs.c.id)
        .where(gap_runs.c.gap == gap, runs.c.team == team)
        .order_by(runs.c.started_at.desc())
        .limit(MOST_RUNS)
    )
    async with engine.connect() as connection:
        found = (await connection.execute(_listed(team).where(gaps.c.id == gap))).mappings().first()
        if found is None:
            return None
        rows = (await connection.execute(members)).mappings().all()
    return Gap(**found), tuple(dict(row) for row in rows)


async def settle(engine: AsyncEngine, gap: int, state: str, *, team: str, person: str) -> bool:
    """Says how far a gap is; False where the team has no such gap. Raises GapStateError."""
    if state not in get_args(State):
        raise GapStateError(GapStateError.__doc__)
    changes = {"state": state, "changed_by": person, "changed_at": func.now()}
    async with engine.begin() as connection:
        changed = update(gaps).where(gaps.c.id == gap, gaps.c.team == team).values(changes)
        return (await connection.execute(changed)).rowcount == 1


def _bad() -> ColumnElement[bool]:
    """Badly rated by a reviewer, or, where nobody has reviewed it, by an asker."""
    unhelpful = exists().where(feedback.c.run == runs.c.id, feedback.c.helpful.is_(False))
    return or_(runs.c.review.in_(["wrong", "incomplete"]), and_(runs.c.review.is_(None), unhelpful))


def _new(team: str, model: str) -> Select[Any]:
    """Three ways to be without a good answer, each found by an index of its own."""
    recent = [
        runs.c.team == team,
        runs.c.rerun_of == "",
        runs.c.erased_at.is_(None),
        runs.c.question != "",
        runs.c.started_at >= func.now() - LOOK_BACK,
        ~exists().where(gap_runs.c.run == runs.c.id, gap_runs.c.model == model),
    ]
    unrated = [runs.c.review.is_distinct_from("good")]
    disliked = select(feedback.c.run).where(feedback.c.team == team, feedback.c.helpful.is_(False))
    ids = (
        select(runs.c.id)
        .where(*recent, *unrated, runs.c.abstention.is_not(None))
        .union(
            select(runs.c.id).where(*recent, runs.c.review.in_(["wrong", "incomplete"])),
            select(runs.c.id).where(*recent, runs.c.review.is_(None), runs.c.id.in_(disliked)),
        )
        .subquery()
    )
    return select(runs.c.id, runs.c.question, runs.c.standalone).where(runs.c.id.in_(select(ids.c.id)))


async def _place(
    connection: AsyncConnection, run: str, vector: Sequence[float] | Any, *, team: str, model: str
) -> None:
    distance = gap_runs.c.embedding.cosine_distance(vector)
    nearest = (
        select(gaps.c.id, gaps.c.state, distance.label("distance"))
        .join(gap_runs, gap_runs.c.gap == gaps.c.id)
        .where(gaps.c.team == team, gap_runs.c.model == model)
        .order_by(distance)
        .limit(1)
    )
    found = (await connection.execute(nearest)).first()
    if found is not None and 1 - found.distance >= NEAR:
        gap = found.id
        if found.state == "fixed":  # it was asked again, and again there was no good answer
            await connection.execute(update(gaps).where(gaps.c.id == gap).values(state="open", changed_by=""))
    else:
        gap = (await connection.execute(insert(gaps).values(team=team).returning(gaps.c.id))).scalar_one()
    await connection.execute(insert(gap_runs).values(run=run, gap=gap, model=model, embedding=vector))


def _listed(team: str) -> Select[Any]:
    return (
        select(
            gaps.c.id,
            gaps.c.state,
            gaps.c.changed_by,
            func.count().label("questions"),
            func.count(runs.c.abstention).label("unanswered"),
            func.count().filter(_bad()).label("rated"),
            func.max(runs.c.started_at).label("last"),
            _newest(func.left(runs.c.question, 300)).label("example"),
            _newest(runs.c.id).label("run"),
        )
        .join(gap_runs, gap_runs.c.gap == gaps.c.id)
        .join(runs, runs.c.id == gap_runs.c.run)
        .where(gaps.c.team == team)
        .group_by(gaps.c.id)
        .order_by(func.count().desc(), gaps.c.id)
        .limit(MOST_GAPS)
    )


def _newest(column: ColumnElement[str]) -> ColumnElement[str]:
    """The column's value of the newest run of a group."""
    return func.array_agg(aggregate_order_by(column, runs.c.started_at.desc()), type_=ARRAY(Text))[1]
