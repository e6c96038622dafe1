"""Which language is spoken at the moment: each task has its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SOURCE = "en"
"""The language that phrases are written in."""
LANGUAGES = (SOURCE, "de", "fr", "es", "pt", "ja")
"""Two letters each, as in ISO 639-1; all but the first have a catalogue."""

_spoken: ContextVar[str] = ContextVar("language", default=SOURCE)


def language() -> str:
    """The one that is spoken in this task, of `LANGUAGES`."""
    return _spoken.get()


def speak(language: str) -> None:
    """From here on in this task, and in the tasks that it starts."""
    _spoken.set(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def language_of_locale(locale: str) -> str:
    """Of a locale such as `pt-BR`; the source where nothing is said in its language."""
    spoken = locale.replace("_", "-").partition("-")[0].lower()
    return spoken if spoken in LANGUAGES else SOURCE
