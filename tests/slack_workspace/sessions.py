"""What an app shows beside a thread: status, title, suggested prompts, the state of its agent session."""

from dataclasses import dataclass, field

from tests.slack_workspace.clock import Clock
from tests.slack_workspace.world import Json

STATES = frozenset({"active", "processing", "suspended", "closed"})


@dataclass(kw_only=True, eq=False)
class Session:
    """One thread as an app's agent sees it."""

    statuses: list[str] = field(default_factory=list)
    """Every status that was set, the clearing ones included."""
    state: str = "active"
    states: list[str] = field(default_factory=list)
    title: str = ""
    prompts: list[Json] = field(default_factory=list)
    status_set: float = 0.0
    loading: list[str] = field(default_factory=list)


class Sessions:
    def __init__(self, *, clock: Clock, status_lives: float) -> None:
        self._clock = clock
        self._lives = status_lives
        self._sessions: dict[tuple[str, str], Session] = {}

    def of(self, channel: str, thread_ts: str) -> Session:
        return self._sessions.setdefault((channel, thread_ts), Session())

    def set_status(self, channel: str, thread_ts: str, status: str, loading: list[str]) -> None:
        session = self.of(channel, thread_ts)
        session.statuses.append(status)
        session.status_set = self._clock.now()
        session.loading = loading

    def set_state(self, channel: str, thread_ts: str, state: str) -> Session:
        session = self.of(channel, thread_ts)
        session.state = state
        session.states.append(state)
        return session

    def status(self, channel: str, thread_ts: str) -> str:
        """What is shown now: the last one set, unless a post has cleared it or it grew old."""
        session = self.of(channel, thread_ts)
        fresh = self._clock.now() - session.status_set <= self._lives
        return session.statuses[-1] if session.statuses and fresh else ""

    def showing(self) -> dict[tuple[str, str], str]:
        """The status of each thread now, by channel and ts."""
        return {thread: self.status(*thread) for thread in list(self._sessions)}

    def posted(self, channel: str, thread_ts: str) -> None:
        """A post of the app clears its status."""
        session = self._sessions.get((channel, thread_ts))
        if session and session.statuses and session.statuses[-1]:
            session.statuses.append("")
