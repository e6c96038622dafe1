"""A filter is a link: from the query of an address to a filter of traces, and back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from bot.cleaning import clean
from bot.traces.reading import Filter
from crag_graph.domain import Verdict

TRACES = "/admin/traces"
CHOICES: dict[str, tuple[str, ...]] = {
    "verdict": tuple(Verdict),
    "state": ("answered", "failed", "stopped", "running", "unfinished"),
    "feedback": ("unhelpful", "helpful", "any", "none"),
    "review": ("none", "any", "good", "bad", "wrong", "incomplete"),
}
FLAGS = ("abstained", "errors", "slow")
WORDS = ("channel", "person", "model", "since", "until", "q")
NAMES = (*CHOICES, *FLAGS, *WORDS)
LAST_YEAR = 9999
"""No day comes after its last one."""
LONGEST = 500
"""Characters of one value."""


class FilterError(ValueError):
    """The address asks for something that cannot be filtered by; the message says what to write."""


@dataclass(frozen=True, kw_only=True)
class Chip:
    """A filter that is one click away. `on`: it is in force, and the link takes it back."""

    label: str
    link: str
    on: bool


def chosen(query: Mapping[str, str]) -> dict[str, str]:
    """What an address filters by, cleaned. Raises FilterError."""
    values = {name: clean(query[name])[:LONGEST].strip() for name in NAMES if query.get(name)}
    for name, choices in CHOICES.items():
        if values.get(name, choices[0]) not in choices:
            raise FilterError(f"{name} is one of: {', '.join(choices)}.")
    return {name: value for name, value in values.items() if value}


def to_filter(values: Mapping[str, str], *, team: str, slow: float) -> Filter:
    """`until` names the last day that counts. Raises FilterError."""
    until = _day("until", values)
    fields: dict[str, Any] = {name: values.get(name) for name in (*CHOICES, "channel", "model")}
    return Filter(
        team=team,
        asker=values.get("person"),
        since=_day("since", values),
        until=until + timedelta(days=1) if until else None,
        troubled="errors" in values,
        abstained="abstained" in values,
        slower_than=slow if "slow" in values else None,
        text=values.get("q"),
        **fields,
    )


def link(values: Mapping[str, str] | None = None, **changes: str | None) -> str:
    """The address of the list with these values; None takes one away."""
    merged = {**(values or {}), **changes}
    query = urlencode({name: value for name, value in merged.items() if value})
    return f"{TRACES}?{query}" if query else TRACES


def chips(values: Mapping[str, str], *, now: datetime) -> tuple[Chip, ...]:
    """What is asked for most."""
    today, yesterday = now.astimezone(UTC).date(), now.astimezone(UTC).date() - timedelta(days=1)
    wanted: tuple[tuple[str, dict[str, str]], ...] = (
        ("Not helpful", {"feedback": "unhelpful"}),
        ("No answer", {"abstained": "1"}),
        ("Errors", {"errors": "1"}),
        ("Slow", {"slow": "1"}),
        ("Not reviewed", {"review": "none"}),
        ("Today", {"since": f"{today}", "until": f"{today}"}),
        ("Yesterday", {"since": f"{yesterday}", "until": f"{yesterday}"}),
    )
    return tuple(_chip(label, change, values) for label, change in wanted)


def _chip(label: str, change: Mapping[str, str], values: Mapping[str, str]) -> Chip:
    on = all(values.get(name) == value for name, value in change.items())
    return Chip(
        label=label, on=on, link=link(values, **{name: None if on else value for name, value in change.items()})
    )


def _day(name: str, values: Mapping[str, str]) -> datetime | None:
    if name not in values:
        return None
    try:
        day = datetime.strptime(values[name], "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise FilterError(f"{name} is a day, written as 2026-11-30.") from None
    return day if day.year < LAST_YEAR else None
