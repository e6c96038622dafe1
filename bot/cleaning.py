"""Text as Postgres, JSON and models can take it."""

from collections.abc import Mapping
from typing import Any


def clean(text: str) -> str:
    """The text without NUL characters, with surrogate pairs joined and lone surrogates replaced."""
    if "\x00" not in text and text.isascii():
        return text
    return text.replace("\x00", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clean_all(value: Any) -> Any:
    """The same for every text inside plain data: dicts, lists and tuples."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean_all(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_all(item) for item in value]
    return value
