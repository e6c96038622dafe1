"""Passages that an admin, or two reviews, put behind for questions like one on which they did not help."""

from collections.abc import Mapping, Sequence

from starlette.exceptions import HTTPException
from starlette.responses import Response

from bot.admin.documents import Owner, of_team
from bot.admin.visit import Visit, back
from bot.traces.reading import Row, Trace, show_trace
from bot.traces.relevance import against
from crag_graph.knowledge.demotions import Demotion
from crag_graph.knowledge.tables import demotions
from crag_graph.services import ModelBusyError

BUSY = "The embedding model does not answer, so nothing was changed. Go back and try again shortly."
GONE = "The library does not hold this passage any more: it is not found, so it cannot rank lower."


async def demote(visit: Visit) -> Response:
    """A word of an admin that counts alone."""
    trace = await show_trace(visit.engine, visit.path("trace"), team=visit.team)
    passage = _passage(trace, visit.field("passage")) if trace else None
    if trace is None or trace.run["erased_at"] or passage is None:
        raise HTTPException(404)
    try:
        noted = await visit.desk.demotions.note(against(trace.run, passage), by=visit.person, firm=True)
    except ModelBusyError as error:
        raise HTTPException(503, BUSY) from error
    if not noted:
        raise HTTPException(409, GONE)
    await visit.note("put a passage behind", trace.run["id"], source=passage["source"])
    return back(f"/admin/traces/{trace.run['id']}?said=demoted#passages")


async def undo(visit: Visit) -> Response:
    """Takes one word back; the passage ranks as it would without it."""
    owner = Owner(team=visit.team, everybody=visit.everybody)
    if not await visit.desk.demotions.undo(visit.number("demotion"), spaces=of_team(owner, demotions.c.space)):
        raise HTTPException(404)
    await visit.note("took a word against a passage back", str(visit.number("demotion")))
    return back(_whence(visit.field("from")))


async def said_against(visit: Visit, texts: Sequence[str], spaces: Sequence[str]) -> Mapping[str, tuple[Demotion, ...]]:
    """By the passage's text."""
    return await visit.desk.demotions.of_texts(texts, spaces=spaces) if texts else {}


def _passage(trace: Trace | None, name: str) -> Row | None:
    found = (one for step in (trace.steps if trace else ()) for one in step["detail"].get("passages") or ())
    return next((one for one in found if one["id"] == name), None)


def _whence(path: str) -> str:
    """A page of ours; whatever else the form says, the library."""
    return path if path.startswith(("/admin/traces/", "/admin/library/")) and "//" not in path else "/admin/library"
