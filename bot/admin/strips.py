"""Strips inside the text that they were cut from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any


class Fate(StrEnum):
    KEPT = "kept"
    DROPPED = "dropped"
    UNTOUCHED = "untouched"
    """In no strip: the passage went no further."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A piece of a text with one fate. `why`: scores and reasons of the strips that hold it."""

    text: str
    fate: Fate
    why: str = ""


def pieces(text: str, judged: Iterable[Mapping[str, Any]]) -> list[Piece]:
    """The whole text in order. Strips overlap: what one of them keeps is kept."""
    spans = [_span(one, len(text)) for one in judged]
    cuts = sorted({0, len(text), *(cut for start, end, _ in spans for cut in (start, end))})
    made = [
        _piece(text, start, end, [one for first, last, one in spans if first < end and last > start])
        for start, end in pairwise(cuts)
    ]
    return [piece for piece in made if piece.text]


def _span(one: Mapping[str, Any], length: int) -> tuple[int, int, Mapping[str, Any]]:
    start, end = (min(max(int(one["strip"][name]), 0), length) for name in ("start", "end"))
    return start, end, one


def _piece(text: str, start: int, end: int, holding: list[Mapping[str, Any]]) -> Piece:
    if not holding:
        return Piece(text=text[start:end], fate=Fate.UNTOUCHED)
    kept = any(one["kept"] for one in holding)
    why = " · ".join(f"{one['score']['value']:.2f} {one['score']['reason']}" for one in holding)
    return Piece(text=text[start:end], fate=Fate.KEPT if kept else Fate.DROPPED, why=why)
