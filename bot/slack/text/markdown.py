"""An answer's Markdown made safe for Slack's `markdown` block, so that it shows what it says and leads where it says."""

import re
from collections.abc import Collection
from urllib.parse import quote

from bot.slack.text.mrkdwn import BREAK, defuse

_PARTS = re.compile(
    r"""
      (?P<fence>^[ ]{0,3}(?P<mark>```+|~~~+)[^\n]*(?:\n(?:.*\n)*?[ ]{0,3}(?P=mark)[`~]*[ ]*$|\n(?:.*\n?)*\Z|\Z))
    | (?P<code>(?<!`)(?P<ticks>`+)(?!`)(?:[^`\n]|(?!(?P=ticks)(?!`))`+(?!`))+?(?P=ticks)(?!`))
    | (?P<link>!?\[(?P<label>(?:[^\[\]\n\\]|\\.|\[[^\[\]\n]*\])*)\]
        \(\s*(?:<(?P<angled>[^<>\n]*)>|(?P<target>(?:[^\s()]|\([^\s()]*\)|[ ](?![ "'(]))+))(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\))
    | (?P<definition>\[[^\[\]]{1,999}\](?=:))
    | (?P<autolink><(?P<address>(?:https?://|mailto:)[^\s<>|]+)>)
    | (?P<entity>&(?=(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});))
    | (?P<angle><)
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What must be told apart: code is left as it is, links are looked at, the rest is text.

A definition (`[1]: address`) would turn every `[1]` of the answer into a link, so it is broken up.
"""

_ADDRESS = "/:?#@!$&'*+,;=%~-._"
"""What may stand in the target of a link as it is: no bracket, no space, no angle, no bar."""


def make_safe(text: str, trusted: Collection[str] = ()) -> str:
    """Markdown without pings and Slack's own tokens, whose links do not hide where they lead.

    A link keeps its form where its target is `trusted` (a source of the answer); any other shows its target.
    """
    made: list[str] = []
    end = 0
    for part in _PARTS.finditer(text):
        made += [defuse(text[end : part.start()]), _safe(part, trusted)]
        end = part.end()
    return "".join([*made, defuse(text[end:])])


def link(label: str, target: str) -> str:
    """A link of our own making; brackets and spaces of label and target cannot end it early."""
    shown = re.sub(r"([\[\]\\])", r"\\\1", make_safe(label))
    return f"[{shown}]({quote(target, safe=_ADDRESS)})"


def _safe(part: re.Match[str], trusted: Collection[str]) -> str:
    if part["fence"] or part["code"]:
        return defuse(part[0])
    if part["link"]:
        return _safe_link(part, trusted)
    if part["definition"]:
        return f"[{make_safe(part[0][1:-1])}]{BREAK}"
    if part["autolink"]:
        return defuse(part["address"])
    return "&amp;" if part["entity"] else "&lt;"


def _safe_link(part: re.Match[str], trusted: Collection[str]) -> str:
    label, target = part["label"], part["angled"] or part["target"] or ""
    if target in trusted and not part[0].startswith("!"):
        return link(label, target)
    shown = make_safe(label)
    return shown if not target or target == label else f"{shown} ({make_safe(target)})"
