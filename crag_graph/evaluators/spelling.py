"""A question that was typed in haste, read as its writer meant it: odd words are those of the passages, misspelt."""

import re
from collections.abc import Collection, Iterable

from crag_graph.embedding import TokenVectors
from crag_graph.evaluators.words import ENGLISH_STOP_WORDS, language, stem, words

FEWEST, MOST_ODD = 2, 24
"""Odd words that make a question one that was typed in haste (a single one may be a word that the passages lack); and
how many are read as another word.
"""
SHORTEST, SHORT, LONG = 3, 4, 6
"""Letters: of an odd word, of one that is a passage's word misspelt, and of one that two slips may be in."""
LONGEST_SMALL = 5
LONGEST = 24
MOST = 4_000
"""Words of the passages that are looked through."""
_WORD = re.compile(r"[^\W\d_]+")


def meant(question: str, read: TokenVectors, texts: Iterable[str]) -> str:
    """The question with its slips undone; as it is where nothing is odd about it, or it is not English.

    `read`: the question's tokens; a word of one token is a word. `texts`: the passages that were found for it.
    """
    if language(question) != "en":
        return question
    known = list(dict.fromkeys(word.lower() for text in texts for word in words(text)))[:MOST]
    stems = {stem(word) for word in known}
    odd = [match for match in _WORD.finditer(question) if _odd(match, read, stems)]
    if len(odd) < FEWEST:
        return question
    for match in reversed(odd[:MOST_ODD]):
        question = question[: match.start()] + _nearest(match[0].lower(), known) + question[match.end() :]
    return question


def _odd(match: re.Match[str], read: TokenVectors, stems: Collection[str]) -> bool:
    word, name = match[0].lower(), match[0][0].isupper() and match.start() > 0
    if name or not SHORTEST <= len(word) <= LONGEST or word in ENGLISH_STOP_WORDS or stem(word) in stems:
        return False
    return sum(match.start() <= start and end <= match.end() for start, end in read.offsets) > 1


def _nearest(word: str, known: Iterable[str]) -> str:
    """The word that it is a slip of the pen for, with the same first letter; itself where there is none."""
    small = _within(word, ENGLISH_STOP_WORDS, slips=1) if len(word) <= LONGEST_SMALL else []
    large = _within(word, known, slips=1 if len(word) < LONG else 2) if len(word) >= SHORT else []
    return min(small or large, default=(0, False, word))[2]


def _within(word: str, others: Iterable[str], *, slips: int) -> list[tuple[int, bool, str]]:
    """Others by how many slips they are away, those with the same letters first."""
    near = (
        (slips_between(word, other), sorted(word) != sorted(other), other)
        for other in others
        if other[0] == word[0] and len(other) >= SHORTEST and abs(len(other) - len(word)) <= slips
    )
    return [found for found in near if found[0] <= slips]


def slips_between(one: str, other: str) -> int:
    """Letters left out, put in, replaced, or swapped with their neighbour (Damerau 1964, Levenshtein 1966)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        following = [i]
        for j, there in enumerate(other, 1):
            cost = min(row[j] + 1, following[-1] + 1, row[j - 1] + (letter != there))
            if i > 1 and j > 1 and (letter, one[i - 2]) == (other[j - 2], there):
                cost = min(cost, before[j - 2] + 1)
            following.append(cost)
        before, row = row, following
    return row[-1]
