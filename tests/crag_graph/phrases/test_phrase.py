"""A phrase is said in the language that is spoken."""

import asyncio

import pytest

from crag_graph.nodes.abstain import NEAREST
from crag_graph.phrases import LANGUAGES, Phrase, amount, language, language_of_locale, speak, speaking


def test_it_is_english_where_nobody_has_said_otherwise() -> None:
    assert language() == "en"
    assert NEAREST(title="Leave") == "The nearest that I found is “Leave”."


def test_it_is_said_in_the_language_that_is_spoken_and_keeps_what_it_is_told() -> None:
    with speaking("de"):
        said = NEAREST(title="{Elternzeit}")
    assert "{Elternzeit}" in said
    assert "nearest" not in said
    assert language() == "en"


def test_a_phrase_that_no_catalogue_has_is_said_in_english() -> None:
    with speaking("ja"):
        assert Phrase("Nobody translated {this}.")(this="it") == "Nobody translated it."


def test_a_large_number_is_written_as_the_language_writes_it() -> None:
    assert amount(40_000) == "40,000"
    with speaking("de"):
        assert amount(40_000) == "40.000"


async def test_each_task_speaks_its_own_language() -> None:
    heard = []

    async def say(spoken: str) -> None:
        speak(spoken)
        await asyncio.sleep(0)
        heard.append((spoken, await asyncio.create_task(later())))

    async def later() -> str:
        return language()

    await asyncio.gather(*(say(one) for one in LANGUAGES))
    assert sorted(heard) == sorted((one, one) for one in LANGUAGES)
    assert language() == "en"


@pytest.mark.parametrize(
    ("locale", "spoken"),
    [("de-DE", "de"), ("pt-BR", "pt"), ("ja-JP", "ja"), ("es-419", "es"), ("fr_CA", "fr"), ("nl-NL", "en"), ("", "en")],
)
def test_the_language_of_a_locale(locale: str, spoken: str) -> None:
    assert language_of_locale(locale) == spoken
