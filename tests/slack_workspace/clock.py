"""Slack's clock: real time that a test may push ahead, and timestamps that name a message once."""

import time


class Clock:
    def __init__(self) -> None:
        self._ahead = 0.0
        self._last = 0

    def now(self) -> float:
        """Seconds since the epoch as this Slack sees them."""
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Push Slack's time ahead, so that a trigger, a stream or a response_url grows old without waiting."""
        self._ahead += seconds

    def ts(self) -> str:
        """A message timestamp: microseconds, never given twice."""
        self._last = max(int(self.now() * 1_000_000), self._last + 1)
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"
