"""How often one process calls Slack for show, well below Slack's limits per method (20, 50, 100 a minute)."""

import time
from collections import deque
from dataclasses import dataclass, field

CLOSED_FOR = 600.0
"""Seconds for which a method is left alone that this workspace does not have."""


@dataclass(kw_only=True)
class Budget:
    """So many calls in so many seconds."""

    calls: int
    seconds: float = 60.0
    _made: deque[float] = field(default_factory=deque)
    _closed_until: float = 0.0

    def take(self) -> bool:
        """Counts a call where one is left."""
        now = time.monotonic()
        while self._made and self._made[0] <= now - self.seconds:
            self._made.popleft()
        if len(self._made) >= self.calls or self.is_closed:
            return False
        self._made.append(now)
        return True

    def close(self, seconds: float = CLOSED_FOR) -> None:
        """No more calls for so long."""
        self._closed_until = max(self._closed_until, time.monotonic() + seconds)

    @property
    def is_closed(self) -> bool:
        return time.monotonic() < self._closed_until


@dataclass(kw_only=True)
class Pace:
    """Every reply of a process takes from the same budgets: Slack counts per app and workspace."""

    patience: float = 0.2
    """Seconds before a message is begun: an answer that is there by then is simply posted."""
    append_every: float = 0.4
    """Seconds between two appends to a stream."""
    edit_every: float = 1.5
    """Seconds between two edits of a message."""
    again_after: float = 5.0
    """Seconds until an answer that failed for the moment is tried again; longer each time."""
    streams: Budget = field(default_factory=lambda: Budget(calls=18))
    appends: Budget = field(default_factory=lambda: Budget(calls=90))
    edits: Budget = field(default_factory=lambda: Budget(calls=40))
    statuses: Budget = field(default_factory=lambda: Budget(calls=300))
    sessions: Budget = field(default_factory=lambda: Budget(calls=90))
    streaming: Budget = field(default_factory=lambda: Budget(calls=1_000_000))
    """Closed while this workspace does not stream at all."""
