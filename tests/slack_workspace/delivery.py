"""Brings what happened to an app, over its transport, again and again until it is acknowledged."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from tests.slack_workspace.timing import Timing
from tests.slack_workspace.world import Json


class Kind(Enum):
    """What is delivered: its name in a Socket Mode envelope, and whether the ack may carry an answer."""

    EVENT = ("events_api", False)
    COMMAND = ("slash_commands", True)
    INTERACTION = ("interactive", True)

    def __init__(self, envelope: str, answers_in_ack: bool) -> None:
        self.envelope = envelope
        self.answers_in_ack = answers_in_ack


@dataclass(frozen=True, kw_only=True)
class Retry:
    number: int = 0
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Ack:
    body: Json | None
    by: str
    """The connection or URL that took it."""


class NotAcknowledged(Exception):  # noqa: N818 - the sentence that it is
    """The app did not take the delivery; the message is Slack's word for why."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.final = final
        """The app asked for no further try."""


class Transport(Protocol):
    async def send(self, kind: Kind, payload: Json, *, retry: Retry, within: float) -> Ack: ...


@dataclass(kw_only=True, eq=False)
class Delivery:
    """One try after the other to bring one payload to the app, for tests to look at."""

    kind: Kind
    payload: Json
    tries: list[Retry] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    ack: Ack | None = None
    ack_seconds: float | None = None
    """From the sending of the acknowledged try to its ack, real seconds."""


class Courier:
    """Delivers to one app and keeps the record."""

    def __init__(self, *, transport: Callable[[], Transport], timing: Timing, notify: Callable[[], None]) -> None:
        self._transport = transport
        self._timing = timing
        self._notify = notify
        self._running: set[asyncio.Task[None]] = set()
        self.deliveries: list[Delivery] = []
        self.delay = 0.0
        """Events are held back this long before their first try."""

    def event(self, payload: Json, *, first: Retry | None = None) -> Delivery:
        """Send an event in the background, with Slack's retries."""
        delivery = Delivery(kind=Kind.EVENT, payload=payload)
        self.deliveries.append(delivery)
        task = asyncio.get_running_loop().create_task(self._bring(delivery, first or Retry()))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return delivery

    async def ask(self, kind: Kind, payload: Json) -> Ack:
        """Send a command or an interaction: one try, the person waits for it."""
        delivery = Delivery(kind=kind, payload=payload)
        self.deliveries.append(delivery)
        await self._try(delivery, Retry())
        if delivery.ack is None:
            raise NotAcknowledged(delivery.failures[-1])
        return delivery.ack

    async def close(self) -> None:
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _bring(self, delivery: Delivery, first: Retry) -> None:
        if self.delay:
            await asyncio.sleep(self.delay)
        final = await self._try(delivery, first)
        for number, pause in enumerate(self._timing.retry_after, start=first.number + 1):
            if delivery.ack or final:
                return
            await asyncio.sleep(pause)
            final = await self._try(delivery, Retry(number=number, reason=delivery.failures[-1]))

    async def _try(self, delivery: Delivery, retry: Retry) -> bool:
        """One try; true when there must not be another."""
        delivery.tries.append(retry)
        loop = asyncio.get_running_loop()
        sent = loop.time()
        final = False
        try:
            delivery.ack = await self._transport().send(
                delivery.kind, delivery.payload, retry=retry, within=self._timing.ack_within
            )
            delivery.ack_seconds = loop.time() - sent
        except NotAcknowledged as refusal:
            delivery.failures.append(refusal.reason)
            final = refusal.final
        self._notify()
        return final
