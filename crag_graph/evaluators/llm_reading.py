"""Names and labels in what a judging model wrote."""

import re
from typing import Any

LABELS = ("none", "partial", "full")
"""From of no use to enough."""
_SPELLINGS = {
    "full": "full|fully|yes|correct|relevant|sufficient|complete|answers",
    "partial": "partial|partially|partly|some|ambiguous|incomplete",
    "none": "none|no|not|irrelevant|incorrect|insufficient|never",
}
"""Words by which models say a label, though they were asked for the label itself."""
_NUMBER = re.compile(r"\d+")
_DIGITS = 9


def label_in(text: str) -> str | None:
    """The label that a text begins with, in the model's words: `Yes.`, `FULL`, `Partially relevant`."""
    word = re.search(r"[A-Za-z]+", text)
    for label, spellings in _SPELLINGS.items():
        if word and re.fullmatch(spellings, word[0], re.IGNORECASE):
            return label
    return None


def number_in(name: Any, count: int) -> int | None:
    """The number in a name that we gave (`P3`, `3`, `[S3]`), from 1 to `count`; None for any other name."""
    found = _NUMBER.search(str(name))
    number = int(found[0][:_DIGITS]) if found else 0
    return number if 1 <= number <= count else None


def texts_in(value: Any) -> list[str]:
    """A list of texts, or one text that stands for a list of one."""
    if isinstance(value, list):
        return [str(item) for item in value]
    return [value] if isinstance(value, str) else []
