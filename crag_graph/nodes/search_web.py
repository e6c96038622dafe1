"""Asks the web for what the library does not cover."""

from langgraph.runtime import Runtime

from crag_graph.context import Context
from crag_graph.domain import Abstention
from crag_graph.state import State


async def search_web(state: State, runtime: Runtime[Context]) -> State:
    context = runtime.context
    return {"pages": await context.services.web.search(state["web_query"], limit=context.policy.web_pages)}


async def go_without_web(_: State, __: Runtime[Context]) -> State:
    """The web is not reachable: what the library has must do, and the answer says so."""
    return {"pages": (), "web_missing": Abstention.WEB_UNREACHABLE}
