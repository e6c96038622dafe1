"""Finds the passages of the library that this question may see."""

from langgraph.runtime import Runtime

from crag_graph.context import Context
from crag_graph.state import State


async def retrieve(state: State, runtime: Runtime[Context]) -> State:
    context = runtime.context
    retrieval = await context.services.library.search(
        state["standalone"], spaces=state["spaces"], limit=context.policy.top_k
    )
    return {"passages": retrieval.passages, "faults": retrieval.faults}
