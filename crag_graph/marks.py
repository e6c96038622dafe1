"""The marks of a draft, settled while it streams: every spelling read, renumbered, and removed where it points at nothing."""

import re
from collections.abc import Collection, Iterator, Sequence

_OPEN, _CLOSE, _BLANK = r"[\[［【]", r"[\]］】]", r"[ \t\u00a0\u3000]?"
_NUMBER, _TO, _AND = r"(?![0０])\d{1,3}", r"[-–—~〜]", r"[,;，；、]"
_ITEM = rf"{_NUMBER}(?:{_BLANK}{_TO}{_BLANK}{_NUMBER})?"
_NOTE = r"(?:†[^\]】\n]{0,40})?"
_BODY = rf"{_BLANK}\^?{_ITEM}(?:{_BLANK}{_AND}{_BLANK}{_ITEM})*{_BLANK}{_NOTE}"
_LINK = r"\((?=https?:|www\.|[/#<])(?:[^()\n]|\([^()\n]*\)){0,2000}"
_MARK = rf"(?:{_OPEN}{_OPEN}{_BODY}{_CLOSE}{_CLOSE}|{_OPEN}{_BODY}{_CLOSE})(?:{_LINK}\))?"
_RUN = re.compile(rf"(?:{_MARK})+")
_UNFINISHED = re.compile(
    rf"(?:{_MARK})*(?:"
    rf"|{_OPEN}{{1,2}}(?:\d|[ \t\u00a0\u3000^]|{_TO}|{_AND})*{_NOTE}{_CLOSE}?"
    rf"|{_MARK}(?:{_LINK}(?:\([^()\n]*)?|\((?:h|ht|htt|http|https|w|ww|www)?)"
    r")\Z"
)
"""What may become a longer run of marks when more text comes."""
_BRACKETED = re.compile(rf"{_OPEN}{_BODY}{_CLOSE}")
_RANGE = re.compile(rf"({_NUMBER})(?:{_BLANK}{_TO}{_BLANK}({_NUMBER}))?")
_BESIDE = re.compile(rf"†[^\]】\n]*|{_LINK}\)")
_LONGEST_RANGE = 50

_TEXT = re.compile(r"[^\[［【`~ \t\n]+")
_BLANKS = re.compile(r"[ \t]+")
_FENCE = re.compile(r" {0,3}(`+|~+|)")
_SHORTEST_FENCE = 3
_LONGEST_SPAN = 300
"""Characters of a code span: a backtick without a partner must not hold the stream back."""


class Marks:
    """The marks of a draft as it streams: renumbered by first appearance, those that point at nothing removed.

    `feed` and `finish` return text whose marks are final; cut anywhere, a draft gives the same text. Code
    blocks and code spans are left as they are.
    """

    def __init__(self, known: Collection[int]) -> None:
        self.text = ""
        """All that was returned so far."""
        self.cited: dict[int, int] = {}
        """From the number in the brief to the number shown, in the order shown."""
        self.places: list[tuple[int, int]] = []
        """Offset into `text` and number in the brief, for each mark shown."""
        self._known = known
        self._pending = ""
        self._fence = ""
        self._swallow = False

    def feed(self, delta: str) -> str:
        """More of the draft; returns what may be shown now, which may be nothing."""
        self._pending += delta
        return self._advance(final=False)

    def finish(self) -> str:
        """The draft is complete; returns the rest."""
        return self._advance(final=True)

    def append(self, numbers: Sequence[int]) -> str:
        """Marks behind a finished draft that has none."""
        before = len(self.text)
        self._put("\n\n" if self._fence or self.text.rstrip().endswith(("```", "~~~")) else " ")
        self._point(numbers)
        return self.text[before:]

    def _advance(self, *, final: bool) -> str:
        before = len(self.text)
        while self._pending and (taken := self._take(final=final)):
            self._pending = self._pending[taken:]
        return self.text[before:]

    def _take(self, *, final: bool) -> int:
        """Settles the next piece of what is pending; returns its length, 0 where more text must come first."""
        if self._fence:
            return self._take_code(final=final)
        if self._swallow and self._pending[0] in " \t":
            return 1
        self._swallow = False
        if plain := _TEXT.match(self._pending):
            return self._put(plain[0])
        if self._at_line_start() and (taken := self._take_fence(final=final)) is not None:
            return taken
        if self._pending[0] == "`":
            return self._take_span(final=final)
        return self._take_marks(final=final)

    def _at_line_start(self) -> bool:
        return not self.text or self.text.endswith("\n")

    def _take_fence(self, *, final: bool) -> int | None:
        """A line that opens a code block; None where it opens none."""
        opening = _FENCE.match(self._pending)
        if opening is None or (len(opening[0]) == len(self._pending) and not final):
            return 0
        line, newline, _ = self._pending.partition("\n")
        if len(opening[1]) < _SHORTEST_FENCE or (opening[1][0] == "`" and "`" in line[opening.end() :]):
            return None
        if not newline and not final:
            return 0
        self._fence = opening[1]
        return self._put(line + newline)

    def _take_code(self, *, final: bool) -> int:
        """A line of a code block, or a piece of it, as it is."""
        line, newline, _ = self._pending.partition("\n")
        bare = line.strip()
        may_close = self._at_line_start() and not bare.strip(self._fence[0])
        if may_close and not newline and not final:
            return 0
        self._put(line + newline)
        if may_close and len(bare) >= len(self._fence):
            self._fence = ""
        return len(line) + len(newline)

    def _take_span(self, *, final: bool) -> int:
        """A code span, or backticks that close nothing."""
        ticks = len(self._pending) - len(self._pending.lstrip("`"))
        window = self._pending[ticks : ticks + _LONGEST_SPAN].partition("\n")
        closing = re.search(rf"(?<!`)`{{{ticks}}}(?!`)", window[0])
        decided = final or window[1] or len(self._pending) >= ticks + _LONGEST_SPAN
        if closing and (decided or closing.end() < len(window[0])):
            return self._put(self._pending[: ticks + closing.end()])
        return self._put("`" * ticks) if decided else 0

    def _take_marks(self, *, final: bool) -> int:
        """Blanks and the marks behind them, or the one character that is neither."""
        blanks = len(blank[0]) if (blank := _BLANKS.match(self._pending)) else 0
        rest = self._pending[blanks:]
        if not final and _UNFINISHED.match(rest):
            return 0
        run = _RUN.match(rest)
        if run is None:
            return self._put(self._pending[: max(blanks, 1)])
        numbers = dict.fromkeys(number for number in _numbers_in(run[0]) if number in self._known)
        if numbers:
            self._put(self._pending[:blanks])
            self._point(tuple(numbers))
        self._swallow = not numbers and self._at_line_start()
        return blanks + run.end()

    def _put(self, text: str) -> int:
        self.text += text
        return len(text)

    def _point(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.places.append((len(self.text), number))
            self.text += f"[{self.cited.setdefault(number, len(self.cited) + 1)}]"


def _numbers_in(marks: str) -> Iterator[int]:
    """The numbers in a run of marks: `[1-3]` stands for three; a range that runs backwards, for its two ends."""
    for first, last in _RANGE.findall(_BESIDE.sub("", marks)):
        low, high = int(first), int(last or first)
        yield from range(low, min(high, low + _LONGEST_RANGE) + 1) if low <= high else (low, high)


def without_marks(text: str) -> str:
    """The text without bracketed numbers."""
    return _BRACKETED.sub("", text)


def bracketed(text: str) -> set[int]:
    """The numbers that stand in brackets in a text."""
    return {number for mark in _BRACKETED.findall(text) for number in _numbers_in(mark)}
