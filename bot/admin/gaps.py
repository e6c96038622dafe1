"""The page *Gaps*: what is asked and not answered well, how far it is mended, and the group asked again."""

import csv
import io
from collections.abc import Mapping, Sequence

import structlog
from starlette.exceptions import HTTPException
from starlette.responses import Response

from bot.admin import again
from bot.admin.filters import FilterError
from bot.admin.visit import Visit, back
from bot.traces import gaps
from bot.traces.history import reruns_of
from bot.traces.reading import Row
from crag_graph.services import ServiceError

STATES = ("open", "written", "fixed")
AT_ONCE = 40
"""New questions that are grouped when the page is looked at."""
AT_A_TIME = 500
"""New questions that are grouped when somebody asks for it."""
MOST_RERUNS = 5
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How a cell begins that a spreadsheet would compute."""

log = structlog.get_logger()


async def show_list(visit: Visit) -> Response:
    state = visit.query("state")
    if state and state not in STATES:
        raise FilterError(f"state is one of: {', '.join(STATES)}.")
    grouped = await _group(visit, AT_ONCE)
    some_wait = grouped is None or grouped == AT_ONCE
    return visit.page(
        "gaps.html",
        found=await gaps.list_gaps(visit.engine, team=visit.team, state=state or None),
        state=state,
        states=STATES,
        waiting=await gaps.waiting(visit.engine, team=visit.team, model=visit.desk.embedder.name) if some_wait else 0,
        trouble=grouped is None,
    )


async def group(visit: Visit) -> Response:
    await _group(visit, AT_A_TIME)
    return back("/admin/gaps")


async def show_one(visit: Visit) -> Response:
    gap, runs = await _found(visit)
    tries = {run["id"]: await reruns_of(visit.engine, run) for run in runs[:MOST_RERUNS]}
    return visit.page("gap.html", gap=gap, runs=runs, states=STATES, tries=tries, most=MOST_RERUNS)


async def settle(visit: Visit) -> Response:
    gap, state = visit.number("gap"), visit.field("state")
    if not await gaps.settle(visit.engine, gap, state, team=visit.team, person=visit.person):
        raise HTTPException(404)
    await visit.note("settled a gap", str(gap), state=state)
    return back("/admin/gaps" if visit.field("from") == "list" else f"/admin/gaps/{gap}")


async def run_again(visit: Visit) -> Response:
    """The newest questions of the group, one after the other: the page shows what became of them."""
    gap, runs = await _found(visit)
    for run in _different(runs)[:MOST_RERUNS]:
        try:
            await again.run_again(visit.desk, run)
        except again.RerunError as error:
            raise HTTPException(409, str(error)) from error
    await visit.note("ran a gap again", str(gap.id))
    return back(f"/admin/gaps/{gap.id}")


async def download(visit: Visit) -> Response:
    found = await gaps.list_gaps(visit.engine, team=visit.team)
    return Response(
        _csv(found),
        media_type="text/csv; charset=utf-8",
        headers={"content-disposition": 'attachment; filename="gaps.csv"'},
    )


async def _group(visit: Visit, limit: int) -> int | None:
    """How many; None where the embedding model did not answer: what is grouped already can still be seen."""
    try:
        return await gaps.group(visit.engine, visit.desk.embedder, team=visit.team, limit=limit)
    except ServiceError as error:
        log.warning("gaps_not_grouped", kind=type(error).__name__)
        return None


async def _found(visit: Visit) -> tuple[gaps.Gap, tuple[Row, ...]]:
    found = await gaps.show_gap(visit.engine, visit.number("gap"), team=visit.team)
    if found is None:
        raise HTTPException(404)
    return found


def _different(runs: Sequence[Row]) -> list[Row]:
    """Each wording once."""
    by_text: Mapping[str, Row] = {run["question"].casefold(): run for run in reversed(runs) if not run["erased_at"]}
    return sorted(by_text.values(), key=lambda run: run["started_at"], reverse=True)


def _csv(found: Sequence[gaps.Gap]) -> str:
    sheet = io.StringIO()
    writer = csv.writer(sheet)
    writer.writerow(["gap", "state", "questions", "unanswered", "badly rated", "last asked", "example", "trace"])
    for gap in found:
        row = (
            gap.id,
            gap.state,
            gap.questions,
            gap.unanswered,
            gap.rated,
            f"{gap.last:%Y-%m-%d}",
            gap.example,
            gap.run,
        )
        writer.writerow([harmless(str(cell)) for cell in row])
    return sheet.getvalue()


def harmless(cell: str) -> str:
    """As text for a spreadsheet: nothing that it would compute."""
    return f"'{cell}" if cell.lstrip(" ").startswith(FORMULA) else cell
