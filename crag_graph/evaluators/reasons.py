"""Why a passage got its score, in a few words taken from the question and the passage."""

import re

import numpy as np
from numpy.typing import NDArray

from crag_graph.evaluators.signals import Asked, Ground
from crag_graph.evaluators.words import content_words, stem, words

ALIKE = 0.6
"""Similarity of a word's tokens from which a strip is said to name it in other words."""
MOST_WORDS = 4
UPPER, LOWER = 0.7, 0.3
"""Where the words change from "names …" to "…, but nothing on …"; the verdict has thresholds of its own."""
_AMOUNT = re.compile(
    r"\b(?:how (?:many|much|long|old|far|high|heavy|big|often|late|soon|early|fast)|when|which (?:day|date|year))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,])\d[\d.,:]*(?:\s?(?:%|°C|[A-Za-z€$£µ]{1,12}))?")


def reason(part: Asked, ground: Ground, number: int, score: float) -> str:
    """`number`: of the passage's best strip for the part; `score` in [0, 1]."""
    named, absent = _words(part, ground, number)
    if not part.words:
        return "the question names nothing to look for"
    if not named:
        return "close in meaning, in other words" if score >= UPPER / 2 + LOWER / 2 else f"nothing on {_listed(absent)}"
    said = f"names {_listed(named)}{_amount(part, ground, number)}"
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


def _words(part: Asked, ground: Ground, number: int) -> tuple[list[str], list[str]]:
    """The part's words that the strip names, in the same or in other words, and those that it does not."""
    similar: NDArray[np.float32] = part.read.tokens @ ground.prepared.tokens[ground.inside[number]].T
    nearest = similar.max(axis=1, initial=0.0)
    named: list[str] = []
    absent: list[str] = []
    for word, root, places in zip(part.words, part.stems, part.places, strict=True):
        there = root in ground.stems[number] or nearest[list(places)].mean() >= ALIKE
        (named if there else absent).append(word)
    return list(dict.fromkeys(named)), list(dict.fromkeys(absent))


def _amount(part: Asked, ground: Ground, number: int) -> str:
    """The first number of the strip, where a number is asked for."""
    if not _AMOUNT.search(part.text):
        return ""
    found = [match[0] for match in _NUMBER.finditer(ground.strips[number].text) if match[0] not in part.text]
    return f" and “{found[0]}”" if found else ""


def _listed(words: list[str]) -> str:
    shown = words[:MOST_WORDS]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
