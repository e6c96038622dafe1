"""What one run did, written down as it goes: one step a node, and what is known so far."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

from bot.cleaning import clean
from crag_graph.domain import Answer, Fault, ModelCall, Passage, Strip
from crag_graph.state import State

Item = TypeVar("Item")

REMEMBERED = frozenset({"turns", "summary"})
"""Belongs to the conversation's memory, not to a trace."""

APART = frozenset({"calls", "faults"})
"""Stored beside a step's detail."""


STAND_IN = "__error_handler__"
"""LangGraph's name for what takes over from a node begins with this."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """What a node learnt; `calls` and `faults` are those of this step alone."""

    node: str
    milliseconds: float
    detail: Mapping[str, Any]
    """Plain data by the names of the state."""
    calls: tuple[ModelCall, ...] = ()
    faults: tuple[Fault, ...] = ()


@dataclass
class Journal:
    """The steps of a run, in order."""

    steps: list[Step] = field(default_factory=list)
    state: State = field(default_factory=State)
    _since: float = field(default_factory=time.perf_counter)

    def write(self, node: str, update: Mapping[str, Any] | None) -> None:
        """Adds the step that ends now; `update` is what the node changed in the state."""
        learnt = dict(update or {})
        now = time.perf_counter()
        self.steps.append(
            Step(
                node=node.removeprefix(STAND_IN),
                milliseconds=(now - self._since) * 1000,
                detail={name: plain(learnt[name]) for name in learnt if name not in REMEMBERED | APART},
                calls=_added(self.calls, learnt.get("calls", ())),
                faults=_added(self.faults, learnt.get("faults", ())),
            )
        )
        self._since = now
        self.state = cast("State", {**self.state, **learnt})

    def note(self, fault: Fault) -> None:
        """Adds a fault to the last step."""
        self.state = {**self.state, "faults": (*self.faults, fault)}
        self.steps[-1] = replace(self.steps[-1], faults=(*self.steps[-1].faults, fault))

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        return self.state.get("calls", ())

    @property
    def faults(self) -> tuple[Fault, ...]:
        return self.state.get("faults", ())

    @property
    def answer(self) -> Answer | None:
        return self.state.get("answer")

    @property
    def timings(self) -> dict[str, float]:
        """Milliseconds by node."""
        timings: dict[str, float] = {}
        for step in self.steps:
            timings[step.node] = timings.get(step.node, 0.0) + step.milliseconds
        return timings


def _added(before: tuple[Item, ...], after: tuple[Item, ...]) -> tuple[Item, ...]:
    """A node writes the whole list: what it added is the rest."""
    return after[len(before) :] if after[: len(before)] == before else after


def plain(value: Any) -> Any:  # noqa: PLR0911 - one for each kind of value
    """The value as Postgres's JSON can hold it. A strip names its passage, whose text an earlier step has."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (int, float, bool)) or value is None:
        return value
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Strip):
        return {"passage": value.passage.id, **_fields(value, {"passage"}), "text": clean(value.text)}
    if is_dataclass(value):
        return _fields(value, {"features"} if isinstance(value, Passage) else set())
    if isinstance(value, Mapping):
        return {clean(str(key)): plain(item) for key, item in value.items()}
    return clean(str(value))


def _fields(value: Any, left_out: Collection[str]) -> dict[str, Any]:
    return {name: plain(item) for name, item in vars(value).items() if name not in left_out}
