"""A phrase and its translations, read from the catalogues of gettext."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from babel.messages.pofile import read_po
from babel.numbers import format_decimal

from crag_graph.phrases.languages import SOURCE, language


@dataclass(frozen=True)
class Phrase:
    """Something that the bot says, written in English; called, it is said in the language that is spoken.

    It is no text by itself: what is never called cannot be sent in the wrong language. `{names}` in it are filled when
    it is called, as in `str.format`.
    """

    english: str

    def __call__(self, **values: object) -> str:
        said = _catalogue(language()).get(self.english) or self.english
        return said.format(**values) if values else said


def amount(number: int) -> str:
    """A large number as it is written in the language that is spoken: 40,000 or 40.000."""
    return format_decimal(number, locale=language())


@cache
def _catalogue(language: str) -> Mapping[str, str]:
    """What each phrase is called in this language; takes about a tenth of a second, once."""
    if language == SOURCE:
        return {}
    with (files(__package__) / "catalogues" / f"{language}.po").open("rb") as file:
        return {str(message.id): str(message.string) for message in read_po(file, locale=language) if message.id}
