"""Finds the JSON object in what a model wrote, however it dressed it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_FENCED = re.compile(r"```[a-zA-Z]*\s*(.*?)```", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
"""Not strict: weak models put raw line breaks into strings."""
_TRIES = 50
"""Opening braces that are tried; hostile text has thousands."""


def json_object(text: str) -> Mapping[str, Any] | None:
    """The first JSON object in the text: bare, in a code fence or amid prose; None if there is none."""
    for candidate in _candidates(without_thoughts(text)):
        try:
            value, _ = _DECODER.raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


def without_thoughts(text: str) -> str:
    """The text without the `<think>` block that reasoning models of some servers put in front."""
    return _THOUGHT.sub("", text).strip()


def _candidates(text: str) -> Iterator[str]:
    for fenced in _FENCED.finditer(text):
        yield fenced[1].strip()
    for brace in list(re.finditer(r"\{", text))[:_TRIES]:
        yield text[brace.start() :]
