"""Slack's own markup: what people write is decoded into plain text, what we write into its fields cannot ping."""

import re
from collections.abc import Mapping

BREAK = "\u200b"
"""A zero-width space: text that would be a ping or a token reads the same and is none."""

_TOKEN = re.compile(r"<([^<>\n]+)>")
_PERSON = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>\n]*)?>")
_CHANNEL = re.compile(r"<#([CDG][A-Z0-9]+)(\|[^<>\n]*)?>")
_CALL = re.compile(r"(?<![\w@])@(?=(?:channel|here|everyone)\b)", re.IGNORECASE)
_LIVE = re.compile(r"(<|&lt;)(?=[!@#][A-Za-z]|(?:https?|mailto|tel):[^\s<>]*\|)")
_INVISIBLE = dict.fromkeys([0, 0xAD, 0x180E, 0x200B, 0x2060, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_EMOJI = re.compile(r":[a-z0-9_+'-]+:(?::skin-tone-\d:)?")


def escape(text: str) -> str:
    """The text as it may stand in a field that Slack reads as mrkdwn: shown verbatim, no ping, no link."""
    return defuse(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def defuse(text: str) -> str:
    """The text with every spelling of a ping, and of a link that hides its target, broken by a zero-width space."""
    return _LIVE.sub(lambda found: found[1] + BREAK, _CALL.sub("@" + BREAK, text))


def clean(text: str) -> str:
    """The text as it came, without what no store or model takes and nobody sees: NUL, lone surrogates, zero widths."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.translate(_INVISIBLE)


def mentioned(text: str) -> frozenset[str]:
    """The ids of the people that a message mentions."""
    return frozenset(_PERSON.findall(text))


def channels_named(text: str) -> frozenset[str]:
    """The ids of channels that a message names without saying what they are called."""
    return frozenset(found for found, label in _CHANNEL.findall(text) if len(label) <= 1)


def decode(text: str, *, me: str, names: Mapping[str, str]) -> str:
    """What a person meant: tokens as words, entities as characters, our own mention gone.

    `me` is our user id; `names` says what the people and channels are called that a token names by id alone.
    """
    words = _TOKEN.sub(lambda token: _spoken(token[1], me, names), text)
    return unescape(words).strip()


def unescape(text: str) -> str:
    """`&lt;`, `&gt;` and `&amp;` as characters, decoded once."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def wordless(text: str) -> bool:
    """Nothing in it can be answered: empty, emoji, punctuation."""
    return not any(character.isalnum() for character in _EMOJI.sub("", text))


def _spoken(token: str, me: str, names: Mapping[str, str]) -> str:
    target, _, label = token.partition("|")
    if target.startswith("@"):
        return "" if target[1:] == me else f"@{names.get(target[1:]) or label or target[1:]}"
    if target.startswith("#"):
        return f"#{label or names.get(target[1:]) or target[1:]}"
    if target.startswith("!"):
        return _special(target[1:], label)
    return _link(target, label)


def _special(target: str, label: str) -> str:
    command = target.partition("^")[0]
    if command == "date":
        return label
    if command == "subteam":
        return label if label.startswith("@") else f"@{label or target.partition('^')[2]}"
    return f"@{command}"


def _link(target: str, label: str) -> str:
    address = target.removeprefix("mailto:").removeprefix("tel:")
    shown = unescape(label)
    bare = unescape(address)
    if not label or shown == bare or bare.partition("://")[2].rstrip("/") == shown.rstrip("/"):
        return address
    return f"{label} ({address})"
