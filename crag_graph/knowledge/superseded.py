"""Does a document say of itself that another has taken its place?"""

import calendar
import re
from collections.abc import Iterator
from datetime import date

from crag_graph.knowledge.documents import LoadedDocument

_ARCHIVES = frozenset(
    ["archive", "archived", "archives", "archiv", "obsolete", "superseded", "deprecated", "old", "outdated"]
)
_FIRST_BLOCKS = 3
_FIRST_CHARACTERS = 600

_STATE = (
    r"(?:superseded|obsolete|deprecated|archived|withdrawn|outdated|expired|veraltet|abgelöst|archiviert|außer kraft)"
)
_DOCUMENT = (
    r"(?:document|policy|page|version|edition|guide|guideline|handbook|manual|procedure|article|file|rules?|text)"
)
_IN_TITLE = re.compile(
    rf"^\W*{_STATE}\s*[:\])–—-]|[(\[]\s*(?:{_STATE}|old)\s*[)\]]|(?:[:–—_-]\s*|\w[ _-]){_STATE}\W*$|[_-]old\W*$",
    re.IGNORECASE,
)
"""`[Superseded] Leave`, `Leave (old)`, `leave-archived`; not `Superseded documents: how to handle them`."""
_SAYS_SO = re.compile(
    rf"^\W*{_STATE}\s*(?:[.:;!–—-]|$)"
    rf"|^\W*(?:status|state)\W+{_STATE}\b"
    rf"|^\W*{_STATE}\W+(?:true|yes)\b"
    r"|^\W*(?:superseded|replaced|obsoleted) by(?! th(?:is|e present)\b)\b"
    rf"|\bthis (?:\w+ ){{0,2}}{_DOCUMENT} (?:\w+ ){{0,2}}(?:is|was|has been) (?:now |since )?"
    rf"(?:{_STATE}|replaced|no longer (?:valid|in force|in use|maintained|current))\b(?! by this\b)",
    re.IGNORECASE | re.MULTILINE,
)
_VALID_UNTIL = re.compile(
    rf"(?:^\W*|\b(?:it|{_DOCUMENT})\b[^.\n]{{0,60}}?\b)"
    r"(?:(?:valid|in force|in effect|applied|applies|gültig)[ _-](?:until|till|through|to|bis)|expired|expires|valid_until|expiry(?: date)?)"
    r"\W{1,3}(?:on |the )?(?P<date>[^\n;]{4,30})",
    re.IGNORECASE | re.MULTILINE,
)
_ISO = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?")
_NUMBERS = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})")
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if number}
_MONTH = rf"({'|'.join(_MONTHS)})"
_DAY_MONTH = re.compile(rf"(?:(\d{{1,2}})(?:st|nd|rd|th|\.)? (?:of )?)?{_MONTH},? (\d{{4}})", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})", re.IGNORECASE)
_YEAR = re.compile(r"(?:the end of )?(\d{4})\b")


def is_superseded(document: LoadedDocument, *, today: date) -> bool:
    """True where its folder, its name or title, its properties or its first lines say so.

    A document that says that it supersedes another one is the current one. The folders of an address on
    the web say nothing: there, "archive" holds whatever is not of today.
    """
    return (
        _lies_in_archive(document.source)
        or any(_IN_TITLE.search(name) for name in (document.title, _stem(document.source)))
        or any(_SAYS_SO.search(text) or _is_over(text, today) for text in _first_words(document))
    )


def _lies_in_archive(source: str) -> bool:
    folders = re.split(r"[/\\]", source)[:-1]
    return "://" not in source and any(folder.lower().strip("_.- ") in _ARCHIVES for folder in folders)


def _stem(source: str) -> str:
    return re.sub(r"\.\w{1,5}$", "", re.split(r"[/\\]", source)[-1])


def _first_words(document: LoadedDocument) -> Iterator[str]:
    yield document.properties[:_FIRST_CHARACTERS]
    for block in document.blocks[:_FIRST_BLOCKS]:
        yield block.text[:_FIRST_CHARACTERS]


def _is_over(text: str, today: date) -> bool:
    """The text says until when it is valid, and that day has passed."""
    ends = [date_in(found["date"]) for found in _VALID_UNTIL.finditer(text)]
    return any(end is not None and end < today for end in ends)


def date_in(text: str) -> date | None:
    """The date that the text begins with; the last day of a month or year; the later one of `3/4/2024`."""
    text = text.strip(" \"'")
    try:
        return _named_date(text) or _numeric_date(text)
    except ValueError:  # the 31st of February
        return None


def _numeric_date(text: str) -> date | None:
    if iso := _ISO.match(text):
        year, month = int(iso[1]), int(iso[2])
        return date(year, month, int(iso[3] or _last_day(year, month)))
    if numbers := _NUMBERS.match(text):
        first, second, year = int(numbers[1]), int(numbers[2]), int(numbers[3])
        readings = [(second, first)] + ([(first, second)] if first <= 12 else [])  # noqa: PLR2004 - months
        return max(date(year, month, day) for month, day in readings if month <= 12)  # noqa: PLR2004 - months
    year_only = _YEAR.match(text)
    return date(int(year_only[1]), 12, 31) if year_only else None


def _named_date(text: str) -> date | None:
    if found := _MONTH_DAY.match(text):
        return date(int(found[3]), _MONTHS[found[1].lower()], int(found[2]))
    if found := _DAY_MONTH.match(text):
        year, month = int(found[3]), _MONTHS[found[2].lower()]
        return date(year, month, int(found[1] or _last_day(year, month)))
    return None


def _last_day(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]
