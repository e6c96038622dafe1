"""What Slack's message box makes of what a person types: escapes, mentions, links, rich text."""

import re
from collections.abc import Iterable

from tests.slack_workspace.world import Account, Conversation, Json

_URL = re.compile(r"https?://[^\s<>|]+[^\s<>|.,;:!?)\]]")
_TOKEN = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")
_BROADCAST = re.compile(r"@(channel|here|everyone)\b")


def escape(text: str) -> str:
    """Slack escapes exactly these three."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Slack decodes exactly these three: a `&quot;` stays what it is."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def compose(text: str, *, accounts: Iterable[Account], channels: Iterable[Conversation], named: bool = False) -> str:
    """Typed text as it arrives: `@Ada` and `#general` become ids (`named`: with the name), addresses become links."""
    written = _URL.sub(lambda found: f"<{found.group()}>", escape(text))
    for account in sorted(accounts, key=lambda a: -len(a.name)):
        mention = f"<@{account.id}|{account.handle}>" if named else f"<@{account.id}>"
        written = re.sub(rf"(?<![\w@])@{re.escape(account.name)}(?!\w)", mention, written, flags=re.IGNORECASE)
    for channel in sorted((c for c in channels if c.name), key=lambda c: -len(c.name)):
        mention = f"<#{channel.id}|{channel.name}>"
        written = re.sub(rf"(?<![\w&#])#{re.escape(channel.name)}(?![\w-])", mention, written)
    return _BROADCAST.sub(r"<!\1>", written)


def rich_text(text: str, *, block_id: str) -> Json:
    """The block that Slack adds to what a person wrote."""
    elements: list[Json] = []
    position = 0
    for token in _TOKEN.finditer(text):
        elements += _plain(text[position : token.start()])
        elements.append(_element(token.group(1), token.group(2), token.group(3)))
        position = token.end()
    elements += _plain(text[position:])
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "block_id": block_id, "elements": [section]}


def _plain(text: str) -> list[Json]:
    return [{"type": "text", "text": unescape(text)}] if text else []


def _element(mark: str, target: str, label: str | None) -> Json:
    if mark == "@":
        return {"type": "user", "user_id": target}
    if mark == "#":
        return {"type": "channel", "channel_id": target}
    if mark == "!":
        return {"type": "broadcast", "range": target}
    return {"type": "link", "url": target} | ({"text": label} if label else {})
