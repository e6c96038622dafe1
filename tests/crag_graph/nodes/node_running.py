"""A node on its own, without the graph around it."""

import asyncio
from dataclasses import dataclass, field

from langgraph.runtime import Runtime

from crag_graph.context import Context, Policy
from crag_graph.domain import Progress
from tests.crag_graph.running import TODAY, Cast


@dataclass(kw_only=True)
class Alone:
    """What a node gets besides the state, and what it streamed."""

    cast: Cast = field(default_factory=Cast)
    policy: Policy = field(default_factory=Policy)
    progress: list[Progress] = field(default_factory=list)

    @property
    def runtime(self) -> Runtime[Context]:
        ends_at = asyncio.get_running_loop().time() + self.policy.deadline
        context = Context(services=self.cast.services, policy=self.policy, today=TODAY, ends_at=ends_at)
        return Runtime(context=context, stream_writer=self.progress.append)
