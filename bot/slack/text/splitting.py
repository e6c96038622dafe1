"""Splits Markdown that is too long for one block or message; every word comes once, in order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_FENCE = re.compile(r"[ ]{0,3}(`{3,40}|~{3,40})\s*([^\s`~]{0,20})([^`]*)")
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_WHOLE = re.compile(r"&[#A-Za-z0-9]{1,32};|`[^`\n]+`|\[[^\[\]\n]*\]\([^()\s]*\)|\[\d+\]")
"""Pieces of made-safe Markdown that a cut must not fall into."""
_JOINED = re.compile("[\u0300-\u036f\ufe00-\ufe0f\u200d\U0001f3fb-\U0001f3ff]")
"""Belongs to the character before: an accent, a variant, a joiner, a skin tone."""

SMALLEST = 200
"""The least limit: a piece must hold the fence or the table head that it repeats, and something of its own."""


def split(text: str, limit: int) -> list[str]:
    """The text in pieces of at most `limit` characters, cut at paragraphs, else lines, sentences, words.

    Code that is cut is closed and opened again; a table that is cut repeats its head.
    """
    pieces: list[str] = []
    rest = text.strip("\n")
    while len(rest) > limit:
        piece, rest = cut(rest, best_cut(rest, limit))
        pieces.append(piece)
    return [piece for piece in (*pieces, rest) if piece.strip()]


def cut(text: str, at: int) -> tuple[str, str]:
    """The text before and after a position, each of which stands for itself."""
    head, tail = text[:at], text[at:]
    fence = _fence_at_end(head)
    if fence:
        return f"{head.removesuffix(chr(10))}\n{fence.mark}", f"{fence.opening}\n{tail}"
    return head.rstrip("\n"), _table_head(head, tail) + tail.lstrip("\n")


@dataclass(frozen=True, kw_only=True)
class _Fence:
    mark: str
    opening: str
    """The line that opens the code again: its mark and its language."""


@dataclass(frozen=True, kw_only=True)
class _Line:
    start: int
    text: str
    fence: _Fence | None
    """The code that the line ends in."""


def _lines(text: str) -> Iterator[_Line]:
    opened: _Fence | None = None
    start = 0
    for line in text.split("\n"):
        found = _FENCE.fullmatch(line)
        if found and opened is None:
            opened = _Fence(mark=found[1], opening=found[1] + found[2])
        elif found and opened and found[1].startswith(opened.mark) and not found[2] + found[3].strip():
            opened = None
        yield _Line(start=start, text=line, fence=opened)
        start += len(line) + 1


def _fence_at_end(text: str) -> _Fence | None:
    fence = None
    for line in _lines(text):
        fence = line.fence
    return fence


def best_cut(text: str, limit: int) -> int:
    """Where to cut: the last good place at which the piece, with what closes its code, keeps to the limit."""
    lines = list(_lines(text[:limit]))
    room = limit - max((len(line.fence.mark) + 1 for line in lines if line.fence), default=0)
    window = text[:room]
    for places, least in (
        (_paragraphs(lines), room // 2),
        (_line_ends(lines), room // 3),
        ((found.end() for found in _SENTENCE.finditer(window)), room // 3),
    ):
        best = max((place for place in places if place <= room), default=0)
        if best > least:
            return best
    space = window.rfind(" ", room // 2)
    return _whole(text, space + 1 or room)


def _paragraphs(lines: list[_Line]) -> Iterator[int]:
    """Starts of lines that follow a blank one, outside code."""
    return (line.start for before, line in pairwise(lines) if not before.text.strip() and not before.fence)


def _line_ends(lines: list[_Line]) -> Iterator[int]:
    """Starts of lines; outside code not of those whose indent would make them code."""
    return (line.start for before, line in pairwise(lines) if before.fence or not line.text.startswith("    "))


def _whole(text: str, at: int) -> int:
    """The position, moved to the front of what must not be torn apart."""
    line = text.rfind("\n", 0, at) + 1
    for piece in _WHOLE.finditer(text, line):
        if piece.start() >= at:
            break
        if piece.end() > at and piece.start() > at // 2:
            return piece.start()
    whole = at
    while whole > at // 2 and whole < len(text) and _JOINED.match(text[whole]):
        whole -= 1
    return whole


def _table_head(head: str, tail: str) -> str:
    """Head and rule of the table that the cut runs through, where they are short enough to repeat."""
    rows: list[str] = []
    for line in reversed(head.removesuffix("\n").split("\n")):
        if not line.lstrip().startswith("|"):
            break
        rows.insert(0, line)
    cuts_table = tail.startswith("|") and len(rows) > 1 and _RULE.fullmatch(rows[1])
    repeated = f"{rows[0]}\n{rows[1]}\n" if cuts_table else ""
    return repeated if len(repeated) < len(head) // 2 else ""
