"""What an admin answers in place of the bot, and says to be still right."""

from starlette.exceptions import HTTPException
from starlette.responses import Response

from bot.admin.visit import Visit, back
from bot.experts.answers import Correction
from bot.traces.reading import Row, show_trace
from bot.traces.reviews import Review, add_review
from crag_graph.services import ModelBusyError

EVERYBODY = "everybody"
BUSY = "The embedding model does not answer, so nothing was stored. Go back and try again shortly."


async def correct(visit: Visit) -> Response:
    """The answer becomes a document, and is noted beside the reviews of its trace."""
    trace = await show_trace(visit.engine, visit.path("trace"), team=visit.team)
    if trace is None or trace.run["erased_at"]:
        raise HTTPException(404)
    run, answer = trace.run["id"], visit.field("answer")
    names = await visit.names({visit.person})
    correction = Correction(
        team=visit.team,
        space=_space(visit, trace.run),
        question=visit.field("question"),
        answer=answer,
        author=visit.person,
        author_name=names.get(visit.person, ""),
        run=run,
        link=trace.run["permalink"],
    )
    try:
        stored = await visit.desk.experts.correct(correction)
    except ModelBusyError as error:
        raise HTTPException(503, BUSY) from error
    await add_review(visit.engine, Review(answer=answer), team=visit.team, trace=run, reviewer=visit.person)
    await visit.note("corrected an answer", run, document=stored.document, space=correction.space)
    return back(f"/admin/traces/{run}?said=corrected#reviews")


async def confirm(visit: Visit) -> Response:
    confirmed = await visit.desk.experts.confirm(visit.number("document"), team=visit.team)
    if confirmed is None:
        raise HTTPException(404)
    await visit.note("confirmed an expert answer", str(confirmed.document), question=confirmed.question)
    return back("/admin/library?said=confirmed")


def _space(visit: Visit, run: Row) -> str:
    """Where it was asked, unless everybody may see the answer."""
    here = run["channel"] and visit.field("space") != EVERYBODY
    return f"{visit.team}:{run['channel']}" if here else visit.everybody
