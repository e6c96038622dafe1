"""Questions without a good answer, grouped by meaning: what the library lacks."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import ARRAY, ColumnElement, Select, Text, except_, func, insert, or_, select, text, union, update
from sqlalchemy.dialects.postgresql import aggregate_order_by, array
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.traces.reading import Row
from bot.traces.tables import feedback, gap_runs, gaps, runs, wishes
from crag_graph.embedding import Embedder
from crag_graph.knowledge.demotions import NEAR

State = Literal["open", "written", "fixed"]
"""Nobody has done anything · somebody has written what was missing · it is answered now."""

LOOK_BACK = timedelta(days=90)
MOST_GAPS = 200
MOST_RUNS = 100
GUARD = 0x67617073  # key of the advisory lock of whoever groups


class GapStateError(ValueError):
    """A gap is open, written or fixed."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A group. `example`: its newest question. Of `questions`, some found no answer, the others a badly rated one."""

    id: int
    state: str
    changed_by: str
    questions: int
    unanswered: int
    last: datetime
    example: str
    run: str
    """The trace of the example."""

    @property
    def rated(self) -> int:
        return self.questions - self.unanswered


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
            await _place(connection, row, vector, team=team, model=embedder.name)
    return len(new)


async def list_gaps(engine: AsyncEngine, *, team: str, state: str | None = None) -> tuple[Gap, ...]:
    """The largest ones first."""
    wanted = [gaps.c.state == state] if state else []
    async with engine.connect() as connection:
        found = await connection.execute(_listed(team, *wanted))
        return tuple(Gap(**row) for row in found.mappings())


async def show_gap(engine: AsyncEngine, gap: int, *, team: str) -> tuple[Gap, tuple[Row, ...]] | None:
    """A group and its newest questions."""
    members = (
        select(runs)
        .join(gap_runs, gap_runs.c.run == runs.c.id)
        .where(gap_runs.c.gap == gap, runs.c.team == team)
        .order_by(gap_runs.c.asked_at.desc())
        .limit(MOST_RUNS)
    )
    async with engine.connect() as connection:
        found = (await connection.execute(_listed(team, gaps.c.id == gap))).mappings().first()
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


async def mended(engine: AsyncEngine) -> tuple[int, ...]:
    """Gaps of all teams whose answer may be there now: somebody has written it, or an asker still waits for it."""
    waits = select(gap_runs.c.gap).join(wishes, wishes.c.run == gap_runs.c.run).where(wishes.c.told_at.is_(None))
    candidates = or_(gaps.c.state == "written", (gaps.c.state == "fixed") & gaps.c.id.in_(waits))
    async with engine.connect() as connection:
        return tuple((await connection.execute(select(gaps.c.id).where(candidates).order_by(gaps.c.id))).scalars())


async def to_ask_again(engine: AsyncEngine, gap: int) -> tuple[Row, ...]:
    """Of a gap the newest question, and those whose askers wait to be told, with `waits` saying so; newest first."""
    waits = (wishes.c.run.is_not(None) & wishes.c.told_at.is_(None)).label("waits")
    members = (
        select(runs, waits)
        .join(gap_runs, gap_runs.c.run == runs.c.id)
        .outerjoin(wishes, wishes.c.run == runs.c.id)
        .where(gap_runs.c.gap == gap, runs.c.erased_at.is_(None))
        .order_by(gap_runs.c.asked_at.desc())
        .limit(MOST_RUNS)
    )
    async with engine.connect() as connection:
        rows = [dict(row) for row in (await connection.execute(members)).mappings()]
    return tuple(row for index, row in enumerate(rows) if index == 0 or row["waits"])


async def fix(engine: AsyncEngine, gap: int) -> bool:
    """One of its questions is answered now; False where nobody had written anything."""
    async with engine.begin() as connection:
        changes = {"state": "fixed", "changed_by": "", "changed_at": func.now()}
        changed = update(gaps).where(gaps.c.id == gap, gaps.c.state == "written").values(changes)
        return (await connection.execute(changed)).rowcount == 1


def _new(team: str, model: str) -> Select[Any]:
    """Unanswered, or rated badly by a reviewer, or by an asker where nobody has reviewed it; in no group yet.

    What was asked of files that came with the question is no gap of the library.

    Each kind is found by an index of its own; only what is new is looked at as a whole.
    """
    recent = runs.c.team == team, runs.c.rerun_of == "", runs.c.started_at >= func.now() - LOOK_BACK
    known = or_(runs.c.abstention.is_not(None), runs.c.review.in_(["wrong", "incomplete"]))
    found = union(
        select(runs.c.id).where(*recent, known),
        select(feedback.c.run).where(feedback.c.team == team, feedback.c.helpful.is_(False)),
    ).subquery()
    grouped = select(gap_runs.c.run).where(gap_runs.c.model == model)
    ids = except_(select(found.c.id), grouped).subquery()
    return select(*runs.c["id", "question", "standalone", "started_at", "abstention"]).where(
        runs.c.id.in_(select(ids.c.id)),
        *recent,
        runs.c.review.is_distinct_from("good"),
        runs.c.erased_at.is_(None),
        runs.c.question != "",
        runs.c.spaces != array([runs.c.conversation]),
    )


async def _place(connection: AsyncConnection, run: Any, vector: Any, *, team: str, model: str) -> None:
    """Into the group of the nearest question, or into a new one. What another model has placed stays in its group."""
    known = update(gap_runs).where(gap_runs.c.run == run.id).values(model=model, embedding=vector)
    if (await connection.execute(known)).rowcount:
        return
    gap = await _nearest(connection, vector, team=team, model=model)
    if gap is None:
        gap = (await connection.execute(insert(gaps).values(team=team).returning(gaps.c.id))).scalar_one()
    else:  # it was asked again since, and again there was no good answer
        fixed = gaps.c.id == gap, gaps.c.state == "fixed", gaps.c.changed_at < run.started_at
        await connection.execute(update(gaps).where(*fixed).values(state="open", changed_by=""))
    row = {"asked_at": run.started_at, "unanswered": run.abstention is not None, "model": model, "embedding": vector}
    await connection.execute(insert(gap_runs).values(run=run.id, gap=gap, **row))


async def _nearest(connection: AsyncConnection, vector: Any, *, team: str, model: str) -> int | None:
    """The group of the question that is nearest, where it is near enough to be the same."""
    distance = gap_runs.c.embedding.cosine_distance(vector)
    query = (
        select(gaps.c.id, distance.label("distance"))
        .join(gap_runs, gap_runs.c.gap == gaps.c.id)
        .where(gaps.c.team == team, gap_runs.c.model == model)
        .order_by(distance)
        .limit(1)
    )
    found = (await connection.execute(query)).first()
    return found.id if found is not None and 1 - found.distance >= NEAR else None


def _listed(team: str, *conditions: ColumnElement[bool]) -> Select[Any]:
    """Counted in the index of the groups; of the runs only the examples are read."""
    counted = (
        select(
            *gaps.c["id", "state", "changed_by"],
            func.count().label("questions"),
            func.count().filter(gap_runs.c.unanswered).label("unanswered"),
            func.max(gap_runs.c.asked_at).label("last"),
            _newest(gap_runs.c.run).label("run"),
        )
        .join(gap_runs, gap_runs.c.gap == gaps.c.id)
        .where(gaps.c.team == team, *conditions)
        .group_by(gaps.c.id)
        .order_by(func.count().desc(), gaps.c.id)
        .limit(MOST_GAPS)
        .subquery()
    )
    example = func.left(runs.c.question, 300).label("example")
    return (
        select(*counted.c, example)
        .join(runs, runs.c.id == counted.c.run)
        .order_by(counted.c.questions.desc(), counted.c.id)
    )


def _newest(column: ColumnElement[str]) -> ColumnElement[str]:
    """The column's value of the newest run of a group."""
    return func.array_agg(aggregate_order_by(column, gap_runs.c.asked_at.desc()), type_=ARRAY(Text))[1]
