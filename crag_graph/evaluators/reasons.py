"""Why a passage got its score, in a few words taken from the question and the passage."""

import re

from crag_graph.evaluators.signals import Asked, Ground, named
from crag_graph.evaluators.words import STOP_WORDS, content_words, stem, words

MOST_WORDS = 4
UPPER, LOWER = 0.7, 0.3
"""Where the words change from "names …" to "…, but nothing on …"; the verdict has thresholds of its own."""
_AMOUNT = re.compile(
    r"\b(?:how (?:many|much|long|old|far|high|heavy|big|often|late|soon|early|fast)|when|which (?:day|date|year))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.,:/–-])(?:[€$£]\s?\d(?:[\d.,]*\d)?|\d(?:[\d.,:]*\d)?(?:\s?[%€$£]|\s?°C|[ \u00a0-]?[A-Za-zµ]{1,16}))(?!\w)"
)
"""A number with what it counts; a bare one says nothing."""


def reason(part: Asked, ground: Ground, number: int, score: float) -> str:
    """`number`: of the passage's best strip for the part; `score` in [0, 1]."""
    there = named(part, ground, number)
    held, absent = (
        list(dict.fromkeys(word for word, known in zip(part.words, there, strict=True) if known is wanted))
        for wanted in (True, False)
    )
    if not part.words:
        return "the question names nothing to look for"
    if not held:
        return "close in meaning, in other words" if score >= UPPER / 2 + LOWER / 2 else f"nothing on {_listed(absent)}"
    said = f"names {_listed(held)}{_amount(part, ground, number)}"
    if not absent:
        return said if score >= LOWER else f"{said}, but not what is asked about it"
    if score >= UPPER:
        return said
    return f"{said}, but nothing on {_listed(absent)}"


def shared_words(part: str, text: str) -> str:
    """A reason where nothing but the two texts is known."""
    held = {stem(word) for word in words(text)}
    content = list(dict.fromkeys(content_words(part)))
    named = [word for word in content if stem(word) in held]
    if not named:
        return f"nothing on {_listed(content)}" if content else "judged as a whole"
    absent = [word for word in content if stem(word) not in held]
    return f"names {_listed(named)}" + (f", not {_listed(absent)}" if absent else "")


def _amount(part: Asked, ground: Ground, number: int) -> str:
    """The first number of the strip with its unit, where a number is asked for."""
    if not _AMOUNT.search(part.text):
        return ""
    found = (match[0] for match in _NUMBER.finditer(ground.strips[number].text) if match[0] not in part.text)
    counted = next((one for one in found if _unit(one).lower() not in STOP_WORDS), "")
    return f" and “{counted}”" if counted else ""


def _unit(amount: str) -> str:
    return re.sub(r"^[\d.,:\s-]+", "", amount)


def _listed(words: list[str]) -> str:
    shown = words[:MOST_WORDS]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
