"""Wakes whoever waits for something to happen in this Slack."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Feed:
    def __init__(self) -> None:
        self.changed = asyncio.Event()
        """Set, and replaced by a fresh one, when anything happens."""
        self.turn = 0
        """Grows with everything that an app did: what a person could notice."""

    def notify(self, *, noticed: bool = False) -> None:
        self.turn += noticed
        self.changed.set()
        self.changed = asyncio.Event()

    async def until(self, condition: Callable[[], T | None], *, within: float, what: Callable[[], str]) -> T:
        """The first true value of `condition`; an AssertionError that says `what` was there when time is up."""
        try:
            async with asyncio.timeout(within):
                while True:
                    changed = self.changed
                    if found := condition():
                        return found
                    await changed.wait()
        except TimeoutError:
            raise AssertionError(f"Not within {within:g} s. {what()}") from None
