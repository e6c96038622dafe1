"""The documents that a team's admin may tend, with how often answers cite them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Integer, func, or_, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.experts.tables import expert_answers
from bot.traces.tables import runs
from crag_graph.knowledge.tables import documents

Row = Mapping[str, Any]

WORKSPACE = "workspace"
"""The space that everybody sees, where one installation serves one team."""
ANSWERS = 2_000
"""The newest ones: in these is looked who cites what."""
PAGE = 100


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Whose documents: a team's. `everybody`: the space that everybody in the team sees."""

    team: str
    everybody: str


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Which documents; what is empty does not filter. `cited`: yes or no."""

    space: str = ""
    state: str = ""
    cited: str = ""
    words: str = ""
    before: int | None = None


def of_team(owner: Owner, space: Column[str] = documents.c.space) -> ColumnElement[bool]:
    """What is in everybody's space, and in those of the team's channels."""
    return or_(space == owner.everybody, space.startswith(f"{owner.team}:", autoescape=True))


async def list_documents(engine: AsyncEngine, which: Shown, *, owner: Owner) -> list[Row]:
    """The newest first, one more than a page where there is a next one."""
    cited = _cited(owner.team)
    times = func.coalesce(cited.c.times, 0)
    query = (
        select(documents, times.label("cited"), *expert_answers.c["author_name", "review_at"])
        .outerjoin(cited, cited.c.source == documents.c.source)
        .outerjoin(expert_answers, expert_answers.c.document == documents.c.id)
        .where(*_shelved(owner), *_conditions(which, times))
        .order_by(documents.c.id.desc())
        .limit(PAGE + 1)
    )
    async with engine.connect() as connection:
        return [dict(row) for row in (await connection.execute(query)).mappings()]


async def find_document(engine: AsyncEngine, document: int, *, owner: Owner) -> Row | None:
    query = select(documents).where(documents.c.id == document, *_shelved(owner))
    async with engine.connect() as connection:
        row = (await connection.execute(query)).mappings().first()
    return dict(row) if row else None


async def list_spaces(engine: AsyncEngine, *, owner: Owner) -> list[str]:
    query = select(documents.c.space).where(*_shelved(owner)).distinct().order_by(documents.c.space)
    async with engine.connect() as connection:
        return list((await connection.execute(query)).scalars())


def _shelved(owner: Owner) -> tuple[ColumnElement[bool], ...]:
    """What came with a question is its conversation's alone, unless it was kept."""
    return documents.c.kept, of_team(owner)


def _conditions(which: Shown, times: ColumnElement[int]) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if which.space:
        conditions.append(documents.c.space == which.space)
    if which.state == "superseded":
        conditions.append(documents.c.superseded)
    elif which.state == "due":
        conditions.append(expert_answers.c.review_at <= func.now())
    elif which.state == "expert":
        conditions.append(expert_answers.c.document.is_not(None))
    elif which.state:
        conditions.append(documents.c.state == which.state)
    if which.cited:
        conditions.append(times > 0 if which.cited == "yes" else times == 0)
    if which.words:
        named = (documents.c.title, documents.c.source)
        conditions.append(or_(*(column.icontains(which.words, autoescape=True) for column in named)))
    if which.before is not None:
        conditions.append(documents.c.id < which.before)
    return conditions


def _cited(team: str) -> Any:
    """How many of the newest answers cite a source of the library."""
    newest = (
        select(runs.c.id, runs.c.citations)
        .where(runs.c.team == team, runs.c.rerun_of == "")
        .order_by(runs.c.started_at.desc(), runs.c.id.desc())
        .limit(ANSWERS)
        .subquery()
    )
    one = select(newest.c.id, func.jsonb_array_elements(newest.c.citations, type_=JSONB).label("citation")).subquery()
    source = one.c.citation["source"].astext
    return (
        select(source.label("source"), func.count(one.c.id.distinct(), type_=Integer).label("times"))
        .where(one.c.citation["kind"].astext == "internal")
        .group_by(source)
        .subquery()
    )
