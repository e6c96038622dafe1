"""The web search that is not set up."""

from crag_graph.domain import Passage


class NoWeb:
    """Answers that there is no web: the graph then does without, and says so."""

    available = False

    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:  # noqa: ARG002 (as the protocol has it)
        return ()
