"""Which documents are editions of one another, told by their titles: `Leave policy 2023`, `Leave policy 2025`."""

import re
from dataclasses import dataclass

from crag_graph.knowledge.superseded import date_in

_STATE = r"superseded|obsolete|deprecated|archived?|withdrawn|outdated|expired|old|draft|final"
_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th|\.)? )?(?:{_MONTH})[a-z]*\.? (?:\d{{1,2}},? )?(?:19|20)\d\d"
    r"|(?:19|20)\d\d[ -]\d\d(?:[ -]\d\d)?(?!\d)|\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d|(?:19|20)\d\d"
)
_VERSION = r"(?:versions?|edition|revision|rev\.?|release|v\.?) ?\d{1,6}(?:\.\d{1,6}){0,3}|\d{1,6}(?:\.\d{1,6}){1,3}"
_DATED = re.compile(rf"(?<![\w.])(?:{_DATE})(?![\w-])", re.IGNORECASE)
_NUMBERED = re.compile(rf"(?<![\w.-])(?:{_VERSION})(?![\w-]|\.\d)", re.IGNORECASE)
_BESIDE = re.compile(
    rf"\b(?:{_STATE}|(?:valid |in force |effective )?(?:from|since|as of|until|till|to)|editions? of|of (?=$|[,)\]]))\b",
    re.IGNORECASE,
)
"""What may stand beside a date or number, and says nothing of what the document is about."""
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_DIGITS = 6


@dataclass(frozen=True, kw_only=True)
class Edition:
    """`family`: what the title says without its date or number. `order`: later ones sort behind earlier ones, as text.

    Both are empty where a title has neither; numbered and dated titles are not of one family.
    """

    family: str = ""
    order: str = ""


def edition_of(title: str) -> Edition:
    """`Release notes 8.5 (16 September 2025)` is the edition 8.5 of `release notes`; a number comes before a date."""
    spaced = " ".join(title.split())
    bare = _DATED.sub(" ", spaced)
    if numbered := _NUMBERED.search(bare):
        numbers = re.findall(r"\d+", numbered[0])
        order = ".".join(number.zfill(_DIGITS) for number in numbers)
        return _edition("number", _NUMBERED.sub(" ", bare, count=1), order)
    dated = _DATED.search(spaced)
    day = date_in(re.sub(r"(?<=\d) (?=\d\d(?!\d))", "-", dated[0])) if dated else None
    return _edition("date", bare, day.isoformat()) if day else Edition()


def _edition(kind: str, about: str, order: str) -> Edition:
    """Of no family where too little is left of the title: `2024`."""
    words = " ".join(re.findall(r"[^\W_]+", _BESIDE.sub(" ", about).casefold()))
    if not _LETTERS.search(words):
        return Edition()
    return Edition(family=f"{kind}: {words}", order=order)
