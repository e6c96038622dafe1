"""The words by which full-text search finds a passage: the same for what is stored and for what is asked.

Postgres's own configurations know one language each and take a run of Chinese or Japanese for a single word. Here a
word is folded (case, accents, width) and stemmed as English, which does no harm to other languages as long as both
sides are treated alike; scripts without spaces are cut into pairs of characters.
"""

import re
import unicodedata
from functools import lru_cache

import snowballstemmer

LONGEST_WORD = 64
MOST_WORDS = 5_000  # distinct ones in one text; far beyond any real passage, within what a tsvector holds

_WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PIECE = re.compile(rf"[{_WITHOUT_SPACES}]+|[^\W_{_WITHOUT_SPACES}]+")
_ACCENTS = re.compile("[\u0300-\u036f]")  # of Latin, Greek and Cyrillic; the marks of kana make other letters
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with NUL characters and lone surrogates, which Postgres refuses, replaced one for one."""
    return _UNSTORABLE.sub("\ufffd", text)


def words_of(text: str) -> list[str]:
    """The distinct words of a text in order of appearance."""
    found: dict[str, None] = {}
    for match in _PIECE.finditer(_fold(text)):
        piece = match[0]
        if re.match(f"[{_WITHOUT_SPACES}]", piece):
            found.update(dict.fromkeys(piece[at : at + 2] for at in range(max(1, len(piece) - 1))))
        elif len(piece) <= LONGEST_WORD:
            found[_stem(piece)] = None
        if len(found) >= MOST_WORDS:
            break
    return list(found)


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold())))


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word)) if word.isascii() and word.isalpha() else word


@lru_cache
def _stemmer() -> "snowballstemmer.stemmer":
    return snowballstemmer.stemmer("english")
