"""What a run may use: the services, the policy, the day and the time that is left."""

from dataclasses import dataclass, field
from datetime import date

from crag_graph.services import ServiceError, Services
from crag_graph.verdict import Thresholds


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The rules of an installation, as plain values.

    Times in seconds, sizes in characters, `memory_tokens` in tokens (about four characters each).
    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    by_parts: bool = True
    """Judge each part of a question; False: the rule of the paper on the whole question."""
    top_k: int = 8
    web_pages: int = 5
    context_characters: int = 12_000
    """Upper bound for all strips together that go to the writer."""
    memory_tokens: int = 3_000
    """Remembered turns beyond this leave for the running summary."""
    deadline: float = 60.0


@dataclass(frozen=True, kw_only=True)
class Context:
    """LangGraph's run-scoped context: one for each run. `ends_at` is on the event loop's clock (`loop.time()`)."""

    services: Services
    policy: Policy
    today: date
    ends_at: float
    setbacks: list[ServiceError] = field(default_factory=list)
    """What failed attempts of the node that runs now raised: LangGraph keeps nothing of an attempt that fails."""
