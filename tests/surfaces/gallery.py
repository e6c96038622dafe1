"""What the walk has seen: each surface by its name, as it was at that moment, and all else that stood there."""

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from tests.slack_workspace import Message, SlackWorkspace
from tests.slack_workspace.modal import Modal
from tests.slack_workspace.world import Json
from tests.surfaces.paint import Brush


class Kind(StrEnum):
    MESSAGE = "message"
    MODAL = "modal"
    HOME = "home tab"
    WORDS = "words"
    """Without blocks: a status, a page of the browser, a suggested question."""


@dataclass(frozen=True, kw_only=True)
class Surface:
    """`text`: of a message, what notifications and screen readers use; `lines`: what is seen."""

    name: str
    kind: Kind
    lines: tuple[str, ...]
    text: str = ""
    blocks: tuple[Json, ...] = ()
    view: Json = field(default_factory=dict)
    streaming: bool = False
    private: bool = False


MASKS = (
    (re.compile(r"https?://127\.0\.0\.1:\d+"), "https://slack.test"),
    (re.compile(r"\b1[6-9]\d{8}\.\d{6}\b"), "TS"),
    (re.compile(r"/p1[6-9]\d{14}\b"), "/pTS"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "TRACE"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "TRACE"),
    (re.compile(r"\btrace [0-9a-z_-]{6,}\b"), "trace TRACE"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\b\d\d:\d\d\b"), "TIME"),
    (re.compile(r"\b\d+ ms\b"), "N ms"),
    (re.compile(r"\b[TUBACDFSW]0[0-9A-F]{8}\b"), "ID"),
    (re.compile(r"(token|state|code)=[^&\s)|>]+"), r"\1=SECRET"),
)
"""What is another in each run."""


def masked(text: str) -> str:
    for pattern, put in MASKS:
        text = pattern.sub(put, text)
    return text


@dataclass(kw_only=True)
class Gallery:
    sections: dict[str, list[Surface]] = field(default_factory=dict)
    unnamed: list[Surface] = field(default_factory=list)
    """What stood there besides, for checks alone."""
    _section: str = ""

    def section(self, title: str) -> None:
        self._section = title
        self.sections.setdefault(title, [])

    def show(self, name: str, what: Message | Modal) -> None:
        self._hang(surface_of(what, name))

    def say(self, name: str, *lines: str) -> None:
        self._hang(Surface(name=name, kind=Kind.WORDS, lines=tuple(masked(line) for line in lines)))

    def keep(self, slack: SlackWorkspace) -> None:
        """All that apps have said and shown in this Slack."""
        for place in slack.platform.world.conversations.values():
            for post in [*place.posts.values(), *place.shown]:
                if post.author is slack.bot and not post.is_streaming:
                    self.unnamed.append(surface_of(slack.message(post), f"in {place.name or place.kind.value}"))
        for view in [*slack.platform.views.modals, *slack.platform.views.homes.values()]:
            shown = Modal(view=view, world=slack.platform.world)
            self.unnamed.append(surface_of(shown, shown.title or "home tab"))

    def everything(self) -> Iterator[Surface]:
        for hung in self.sections.values():
            yield from hung
        yield from self.unnamed

    def _hang(self, surface: Surface) -> None:
        if any(surface.name == one.name for one in self.sections[self._section]):
            raise AssertionError(f"Two surfaces are called {surface.name!r}")
        self.sections[self._section].append(surface)


def surface_of(what: Message | Modal, name: str) -> Surface:
    """As it is now: what is changed later does not change it."""
    brush = Brush(world=what.world)
    if isinstance(what, Message):
        post = what.post
        return Surface(
            name=name,
            kind=Kind.MESSAGE,
            lines=tuple(masked(line) for line in brush.post(post)),
            text=masked(brush.fallback(post)),
            blocks=tuple(copy.deepcopy(post.blocks)),
            streaming=brush.is_streamed(post),
            private=what.is_private,
        )
    return Surface(
        name=name,
        kind=Kind(what.view.view["type"]) if what.title else Kind.HOME,
        lines=tuple(masked(line) for line in brush.blocks(what.blocks)),
        blocks=tuple(copy.deepcopy(what.blocks)),
        view=copy.deepcopy(what.view.view),
    )
