"""Makes a follow-up stand alone, and folds the turns that no longer fit into the summary."""

from langgraph.runtime import Runtime

from crag_graph.context import Context
from crag_graph.domain import Turn
from crag_graph.memory import conversation, retold, split, storable, turns
from crag_graph.state import State


async def contextualize(state: State, runtime: Runtime[Context]) -> State:
    context, question = runtime.context, state["question"]
    older, recent = split(turns(state), tokens=context.policy.memory_tokens)
    so_far = conversation({**state, "turns": recent, "retakes": ""})
    if so_far.empty:
        return {"standalone": question}
    standalone = await context.services.writer.contextualize(
        question, so_far, overflow=[retold(turn) for turn in older], today=context.today
    )
    return {
        "standalone": standalone.question.strip() or question,
        "calls": standalone.calls,
        **_folded(older, recent, standalone.summary),
    }


def _folded(older: list[Turn], recent: list[Turn], summary: str | None) -> State:
    """Old turns leave the memory only when a summary takes their place: nothing is lost."""
    return {"turns": recent, "summary": storable(summary)} if older and summary else {}
