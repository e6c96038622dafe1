"""A question that has been worked on, as those who count and draw are told of it."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.traces.journal import Journal
from bot.traces.recorder import RunState


@dataclass(frozen=True, kw_only=True)
class Finished:
    """How a run ended. `journal` holds what people wrote: no watcher may pass that on."""

    trace: str
    team: str
    channel: str
    state: RunState
    started_at: float
    """Seconds since the epoch."""
    milliseconds: float
    journal: Journal
    rerun: bool = False
    """A reviewer's another try: nobody's question."""

    @property
    def outcome(self) -> str:
        """The state, with an abstention told apart from an answer."""
        answer = self.journal.answer
        abstained = self.state is RunState.ANSWERED and answer is not None and answer.abstained
        return "abstained" if abstained else self.state.value

    @property
    def verdict(self) -> str:
        """Empty where the run did not come so far."""
        verdict = self.journal.state.get("verdict")
        return verdict.value if verdict else ""


Watch = Callable[[Finished], None]
"""Takes note of a finished run, quickly."""
