"""Every language says everything, and says as much as the English does."""

import re
from collections.abc import Iterator

import pytest

from crag_graph.phrases import LANGUAGES, SOURCE
from crag_graph.phrases.collect import CATALOGUES, collected, phrases, written

OTHERS = [language for language in LANGUAGES if language != SOURCE]
PATTERNS = {
    "what is filled in": re.compile(r"\{\w+\}"),
    "what is typed": re.compile(r"`[^`]*`|/crag-\w+|/invite"),
    "whom and what it points at": re.compile(r"<[@#][^>]*>|<\{\w+\}\|"),
    "markup": re.compile(r"[*\n•]"),
}
STANDS_FOR = re.compile(r"\b(?!CRAG_|SLACK_)[A-ZÀ-Ý]{3,}\b|[^\x00-\x7f]+")
"""In what is typed, a word for something else may be translated: `/crag-ask QUESTION`."""


def translations(language: str) -> Iterator[tuple[str, str]]:
    return ((str(one.id), str(one.string)) for one in collected(language) if one.id)


@pytest.mark.parametrize("language", OTHERS)
def test_the_catalogue_has_the_phrases_of_the_code_and_no_others(language: str) -> None:
    assert (CATALOGUES / f"{language}.po").read_bytes() == written(collected(language)), "run `make phrases`"


@pytest.mark.parametrize("language", OTHERS)
def test_every_phrase_is_translated(language: str) -> None:
    assert [english for english, said in translations(language) if not said.strip()] == []


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("what", PATTERNS)
def test_a_translation_keeps(language: str, what: str) -> None:
    found = [(english, said) for english, said in translations(language) if _parts(what, english) != _parts(what, said)]
    assert found == []


def test_phrases_are_found_where_they_stand() -> None:
    assert ("crag_graph/nodes/abstain.py", "The nearest that I found is “{title}”.") in set(phrases())


def _parts(what: str, text: str) -> list[str]:
    return sorted(STANDS_FOR.sub("", part) for part in PATTERNS[what].findall(text))
