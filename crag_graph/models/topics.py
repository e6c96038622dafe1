"""The words of a text that say what it is about, without a model."""

import re
from collections.abc import Collection, Iterator

from crag_graph.models.languages import guess, stop_words

WORD = re.compile(r"[^\W_]+(?:[-.'’/&+][^\W_]+)*[+#]{0,2}")
"""A word with what stands inside it: `e-mail`, `8.5`, `don't`, `CI/CD`, `C++`."""
_LINKS = frozenset(
    [
        "of",
        "for",
        "in",
        "on",
        "at",
        "to",
        "with",
        "from",
        "de",
        "du",
        "des",
        "del",
        "do",
        "da",
        "dos",
        "das",
        "für",
        "von",
        "mit",
        "im",
        "para",
        "por",
        "pour",
        "en",
        "em",
    ]
)
"""Between two content words these say how they belong together: `days of parental leave`."""
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w./-]+|[A-Z]{2,}[\w./-]*")
_POSSESSIVE = re.compile(r"['’]s$")


def content_words(text: str) -> list[str]:
    """The words that carry the topic, as written, in order."""
    return [word for _, word in _content(text)]


def phrase(text: str, limit: int, *, without: Collection[str] = (), unique: bool = False) -> str:
    """What the text is about, in at most `limit` characters: its content words and the links between them.

    Words of `without` are left out; with `unique`, so is a word that came already.
    """
    words = WORD.findall(text)
    known = {word.casefold() for word in without}
    carrying = {place: word for place, word in _content(text) if word.casefold() not in known}
    kept: list[str] = []
    for place, word in enumerate(words):
        if place in carrying and not (unique and word in kept):
            link = words[place - 1 : place] if kept and place - 2 in carrying else []
            added = [*(one for one in link if one.casefold() in _LINKS), word]
            if len(" ".join([*kept, *added])) <= limit:
                kept += added
    return " ".join(kept)


def names(text: str) -> list[str]:
    """Names and codes: words with digits or in capitals, and capitalised words that do not merely begin a sentence."""
    small = stop_words(guess(text)) | stop_words("en")
    found: list[str] = []
    following = False
    for match in reversed(list(WORD.finditer(text))):
        word = _POSSESSIVE.sub("", match[0])
        named = word[:1].isupper() and (following or not _begins_sentence(text, match))
        following = word.casefold() not in small and bool(named or _CODE.fullmatch(word))
        if following:
            found.append(word)
    return list(dict.fromkeys(reversed(found)))


def _content(text: str) -> Iterator[tuple[int, str]]:
    stop = stop_words(guess(text)) | stop_words("en")
    for place, word in enumerate(WORD.findall(text)):
        bare = _POSSESSIVE.sub("", word)
        if bare.casefold().replace("’", "'") not in stop and (len(bare) > 1 or bare.isdigit()):
            yield place, bare


def _begins_sentence(text: str, word: re.Match[str]) -> bool:
    """A first word counts as a name where it is alone or a comma, an apostrophe or the end follows it."""
    before = text[: word.start()].rstrip(" \t\"'“„(*_-")
    first = not before or before[-1] in ".!?:\n"
    return first and text[word.end() : word.end() + 1] not in (",", ".", "", "'", "’")
