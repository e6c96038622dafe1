"""What Slack hands out for a short time: trigger ids and response URLs."""

import secrets
from dataclasses import dataclass

from tests.slack_workspace.calls import Refusal
from tests.slack_workspace.clock import Clock
from tests.slack_workspace.installation import Installation
from tests.slack_workspace.world import Account, Conversation, Post


@dataclass(kw_only=True, eq=False)
class Trigger:
    """Lets an app open one view for the person who just did something."""

    id: str
    given: float
    person: Account
    installation: Installation
    used: bool = False


class Triggers:
    def __init__(self, *, clock: Clock, lives: float) -> None:
        self._clock = clock
        self._lives = lives
        self._given: dict[str, Trigger] = {}

    def give(self, person: Account, installation: Installation) -> Trigger:
        trigger = Trigger(
            id=f"{secrets.randbelow(10**13)}.{secrets.randbelow(10**12)}.{secrets.token_hex(16)}",
            given=self._clock.now(),
            person=person,
            installation=installation,
        )
        self._given[trigger.id] = trigger
        return trigger

    def exchange(self, trigger_id: str) -> Trigger:
        trigger = self._given.get(trigger_id)
        if trigger is None:
            raise Refusal("invalid_trigger_id")
        if trigger.used:
            raise Refusal("exchanged_trigger_id")
        if self._clock.now() - trigger.given > self._lives:
            raise Refusal("expired_trigger_id")
        trigger.used = True
        return trigger


@dataclass(kw_only=True, eq=False)
class ResponseUrl:
    """Lets an app answer a command or a button, a few times, for half an hour."""

    key: str
    given: float
    person: Account
    installation: Installation
    place: Conversation
    on: Post | None
    thread_ts: str | None
    uses: int = 0


class ResponseUrls:
    def __init__(self, *, clock: Clock, lives: float, uses: int) -> None:
        self._clock = clock
        self._lives = lives
        self._uses = uses
        self._given: dict[str, ResponseUrl] = {}

    def give(
        self, person: Account, installation: Installation, place: Conversation, *, on: Post | None = None
    ) -> ResponseUrl:
        given = ResponseUrl(
            key=f"{installation.team.id}/{secrets.randbelow(10**13)}/{secrets.token_urlsafe(18)}",
            given=self._clock.now(),
            person=person,
            installation=installation,
            place=place,
            on=on,
            thread_ts=on.thread_ts if on else None,
        )
        self._given[given.key] = given
        return given

    def use(self, key: str) -> ResponseUrl:
        given = self._given.get(key)
        if given is None:
            raise Refusal("invalid_url")
        if self._clock.now() - given.given > self._lives:
            raise Refusal("expired_url")
        if given.uses >= self._uses:
            raise Refusal("used_url")
        given.uses += 1
        return given
