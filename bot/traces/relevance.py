"""What reviews say of passages, on its way into the ranking."""

from bot.traces.reading import Row, Trace
from bot.traces.reviews import Review
from crag_graph.knowledge.demotions import Against, Demotions


def against(run: Row, passage: Row) -> Against:
    """A passage as a trace holds it, and the question of the trace."""
    return Against(
        question=run["standalone"] or run["question"],
        spaces=run["spaces"],
        source=passage["source"],
        text=passage["text"],
        run=run["id"],
    )


async def note_relevance(demotions: Demotions, trace: Trace, review: Review, *, by: str) -> None:
    """What is called not relevant counts as soon as a second review says it, too; relevant takes one's own word back.

    Raises a ServiceError where the embedding model or the library fails.
    """
    for passage in (one for step in trace.steps for one in step["detail"].get("passages") or ()):
        relevant = review.passages.get(passage["id"])
        if relevant:
            await demotions.take_back(against(trace.run, passage), by=by)
        elif relevant is False:
            await demotions.note(against(trace.run, passage), by=by)
