"""Turns the standalone question into keywords for the web search."""

from langgraph.runtime import Runtime

from crag_graph.context import Context
from crag_graph.memory import conversation
from crag_graph.state import State

LONGEST_QUERY = 400
"""Characters: what Tavily takes."""


async def rewrite(state: State, runtime: Runtime[Context]) -> State:
    context = runtime.context
    query = await context.services.writer.rewrite(state["standalone"], conversation(state), today=context.today)
    return {"web_query": shortened(query.query) or shortened(state["standalone"]), "calls": query.calls}


def shortened(query: str) -> str:
    """One line of at most 400 characters, cut between two words where there are words."""
    line = " ".join(query.split())
    if len(line) <= LONGEST_QUERY:
        return line
    cut = line[: LONGEST_QUERY + 1]
    return cut.rsplit(" ", 1)[0] if " " in cut else cut[:LONGEST_QUERY]
