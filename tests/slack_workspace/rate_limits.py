"""Slack's tiers: so many calls a minute per method, app and workspace; posts about one a second per channel."""

import math
from collections import defaultdict, deque

from tests.slack_workspace.clock import Clock

CALLS_A_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100}
SPECIAL = {"chat.postMessage": 300, "auth.test": 300, "assistant.threads.setStatus": 600, "chat.getPermalink": 300}
POSTS_AT_ONCE = 4
"""A short burst in one channel is allowed; after it, one post a second."""


class RateLimits:
    def __init__(self, *, clock: Clock, minute: float, enabled: bool) -> None:
        self._clock = clock
        self._minute = minute
        self.enabled = enabled
        self._calls: dict[tuple[str, ...], deque[float]] = defaultdict(deque)
        self._posts: dict[str, float] = {}
        self.refused = 0

    def wait(self, *, method: str, tier: int | None, who: str, channel: str) -> int:
        """Seconds that the caller has to wait, 0 where the call is within the limits (and is counted)."""
        if not self.enabled:
            return 0
        now = self._clock.now()
        pause = max(self._window(method, tier, who, now), self._burst(method, who + channel, now))
        if pause:
            self.refused += 1
            return max(1, math.ceil(pause))
        self._calls[method, who].append(now)
        if method == "chat.postMessage" and channel:
            self._posts[who + channel] = max(self._posts.get(who + channel, 0.0), now) + self._second
        return 0

    @property
    def _second(self) -> float:
        return self._minute / 60

    def _window(self, method: str, tier: int | None, who: str, now: float) -> float:
        most = CALLS_A_MINUTE.get(tier or 0) or SPECIAL.get(method)
        calls = self._calls[method, who]
        while calls and calls[0] <= now - self._minute:
            calls.popleft()
        return calls[0] + self._minute - now if most and len(calls) >= most else 0.0

    def _burst(self, method: str, place: str, now: float) -> float:
        if method != "chat.postMessage":
            return 0.0
        ahead = self._posts.get(place, 0.0) - now
        return max(0.0, ahead - (POSTS_AT_ONCE - 1) * self._second)
