"""Who and what is in the workspace, as Slack says, remembered briefly."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bot.slack.incoming import Kind
from bot.slack.web import SlackError, SlackRefusedError, Web, heard
from crag_graph.models.languages import recognise
from crag_graph.phrases import LANGUAGES, SOURCE, language_of_locale

REMEMBERED = 300.0
"""Seconds; events of channels and members drop what they concern before."""
MOST = 10_000
PATIENCE = 1.0
"""Seconds in which Slack has to say what language a person has."""
PAGE = 1_000
MOST_CHANNELS = 200
"""Of a person: further ones are not looked at."""

_MARKUP = re.compile(r"<[^<>]*>")
"""Mentions and links, which are in no language."""

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A conversation of Slack. What Slack does not tell us is taken to be private and shared."""

    id: str
    kind: Kind = Kind.UNKNOWN
    name: str = ""
    shared: bool = True
    """People of other organisations are in it."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody. Whom Slack does not tell us of is taken to be a stranger."""

    id: str
    name: str = ""
    home: str = ""
    """The team that the person belongs to."""
    guest: bool = True
    admin: bool = False
    """Of the workspace."""
    language: str = SOURCE
    """That Slack is shown to the person in, where we speak it."""


class Directory:
    """Asks Slack once and remembers. Raises SlackAwayError where Slack does not answer."""

    def __init__(self, web: Web) -> None:
        self._client = web.patient
        self._places: Remembered[Place] = Remembered(self._ask_place)
        self._people: Remembered[Person] = Remembered(self._ask_person)
        self._channels: Remembered[tuple[str, ...]] = Remembered(self._ask_channels)

    async def place(self, channel: str) -> Place:
        return await self._places.get(channel)

    async def person(self, user: str) -> Person:
        return await self._people.get(user)

    async def language(self, user: str, said: str = "") -> str:
        """To speak to the person in: that of what was said (in Slack's markup), else that of the person's Slack; nobody waits long for it."""
        if (told := recognise(_MARKUP.sub(" ", said))) in LANGUAGES:
            return told
        try:
            async with asyncio.timeout(PATIENCE):
                return (await self.person(user)).language if user else SOURCE
        except (SlackError, TimeoutError):
            return SOURCE

    async def channels_of(self, user: str) -> tuple[str, ...]:
        """Conversations that the person is in and that we may know of."""
        return await self._channels.get(user)

    async def among(self, channel: str, people: Collection[str]) -> frozenset[str]:
        """Those of the people who are in the conversation, as Slack says it now; nobody, where it may not be seen."""
        found: set[str] = set()
        cursor = ""
        try:
            while True:
                page = await heard(
                    self._client.conversations_members(channel=channel, limit=PAGE, cursor=cursor or None)
                )
                found |= set(people) & set(page.get("members", ()))
                cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
                if not cursor or len(found) == len(people):
                    return frozenset(found)
        except SlackRefusedError:
            return frozenset()

    async def names(self, people: Collection[str], channels: Collection[str] = ()) -> dict[str, str]:
        """What people and channels are called, by id; those that have no name for us are left out."""
        called = {user: (await self.person(user)).name for user in people}
        called |= {channel: (await self.place(channel)).name for channel in channels}
        return {key: name for key, name in called.items() if name}

    def forget_place(self, channel: str) -> None:
        self._places.forget(channel)

    def forget_person(self, user: str) -> None:
        self._people.forget(user)
        self._channels.forget(user)

    async def _ask_place(self, channel: str) -> Place:
        try:
            told = (await heard(self._client.conversations_info(channel=channel)))["channel"]
        except SlackRefusedError:
            return Place(id=channel)
        shared = bool(told.get("is_ext_shared") or told.get("is_pending_ext_shared"))
        return Place(id=channel, kind=_kind(told), name=told.get("name") or "", shared=shared)

    async def _ask_person(self, user: str) -> Person:
        try:
            told = (await heard(self._client.users_info(user=user, include_locale=True)))["user"]
        except SlackRefusedError:
            return Person(id=user)
        profile: Mapping[str, Any] = told.get("profile") or {}
        name = profile.get("display_name") or profile.get("real_name") or told.get("real_name") or told.get("name")
        limited = ("is_restricted", "is_ultra_restricted", "is_stranger", "deleted")
        guest = any(told.get(flag) for flag in limited)
        admin = not guest and bool(told.get("is_admin") or told.get("is_owner"))
        return Person(
            id=user,
            name=name or "",
            home=told.get("team_id") or "",
            guest=guest,
            admin=admin,
            language=language_of_locale(told.get("locale") or ""),
        )

    async def _ask_channels(self, user: str) -> tuple[str, ...]:
        try:
            told = await heard(
                self._client.users_conversations(
                    user=user,
                    types="public_channel,private_channel,mpim,im",
                    exclude_archived=True,
                    limit=MOST_CHANNELS,
                )
            )
        except SlackRefusedError:
            return ()
        return tuple(channel["id"] for channel in told.get("channels", ()))


async def known_names(
    directory: Directory, people: Collection[str], channels: Collection[str], *, patience: float = 1.0
) -> dict[str, str]:
    """The names that are known within so many seconds: a page shows ids rather than to wait, or fail, for Slack."""
    asked = [asyncio.create_task(directory.names([one])) for one in people]
    asked += [asyncio.create_task(directory.names([], [one])) for one in channels]
    if not asked:
        return {}
    done, late = await asyncio.wait(asked, timeout=patience)
    for task in late:
        task.cancel()
    told = [task.result() for task in done if task.exception() is None]
    return {key: name for names in told for key, name in names.items()}


class Remembered(Generic[Value]):
    """Values that are asked for once in a while."""

    def __init__(self, ask: Callable[[str], Awaitable[Value]]) -> None:
        self._ask = ask
        self._known: dict[str, tuple[float, Value]] = {}

    async def get(self, key: str) -> Value:
        known = self._known.get(key)
        if known and known[0] > time.monotonic():
            return known[1]
        value = await self._ask(key)
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[key] = (time.monotonic() + REMEMBERED, value)
        return value

    def forget(self, key: str) -> None:
        self._known.pop(key, None)


def _kind(told: Mapping[str, Any]) -> Kind:
    if told.get("is_im"):
        return Kind.DM
    if told.get("is_mpim"):
        return Kind.GROUP_DM
    return Kind.PRIVATE if told.get("is_private") or told.get("is_group") else Kind.CHANNEL
