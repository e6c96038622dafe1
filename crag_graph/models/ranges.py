"""Ranges that a row of a table is for (`1,500 to 12,000`, `up to 40`), and whether an amount lies in one."""

import math
import re
from collections.abc import Iterator

_AMOUNT = r"\d{1,3}(?:[, \u00a0\u202f.]\d{3})+(?!\d)|\d{1,15}(?:[.,]\d{1,2}(?!\d))?"
_BETWEEN = re.compile(
    rf"(?<![\w.,])(?P<low>{_AMOUNT})\s?(?:to|bis|and|[-–—])\s?(?P<high>{_AMOUNT})(?![\w-])", re.IGNORECASE
)
_BELOW = re.compile(
    rf"\b(?:up to|until|at most|under|below|less than|fewer than|bis(?: zu)?|unter) (?P<high>{_AMOUNT})(?!\w)",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"\b(?:above|over|more than|at least|from|über|ab|mehr als) (?P<low>{_AMOUNT})(?!\w)", re.IGNORECASE
)
_FOUND = re.compile(rf"(?<![\w.,/:-])(?:{_AMOUNT})(?![\w/:-])")
_YEARS = range(1900, 2100)


def amounts(question: str) -> frozenset[float]:
    """The numbers that a question names, years left out."""
    return frozenset(number for found in _FOUND.findall(question) if (number := _number(found)) not in _YEARS)


def lies_within(text: str, asked: frozenset[float]) -> bool | None:
    """Does one of the amounts lie in a range of the text? None where the text has none, or nothing is asked."""
    ranges = [*_ranges(text)] if asked else []
    return any(low <= number <= high for low, high in ranges for number in asked) if ranges else None


def _ranges(text: str) -> Iterator[tuple[float, float]]:
    for found in _BETWEEN.finditer(text):
        yield _number(found["low"]), _number(found["high"])
    rest = _BETWEEN.sub(" ", text)
    for found in _BELOW.finditer(rest):
        yield -math.inf, _number(found["high"])
    for found in _ABOVE.finditer(rest):
        yield _number(found["low"]), math.inf


def _number(written: str) -> float:
    """`1,500` and `1.500` are fifteen hundred; `1.5` and `1,50` are not."""
    if re.fullmatch(r"\d{1,3}(?:\D\d{3})+", written):
        return float(re.sub(r"\D", "", written))
    return float(written.replace(",", "."))
