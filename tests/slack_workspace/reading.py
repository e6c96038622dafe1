"""Reads Slack's two markup languages as a person's screen shows them."""

import html
import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.slack_workspace.paragraphs import lay_out
from tests.slack_workspace.world import World

_ENTITY = re.compile(r"<([@#!]?)([^<>\n]*)>")
_BARE_URL = re.compile(r"(?<![\w/])https?://[^\s<>|]+[^\s<>|.,;:!?)\]]")
_STYLE = re.compile(r"(?<![\w*_~])([*_~])(?=\S)([^\n]*?\S)\1(?![\w*_~])")
_PLAIN_PING = re.compile(r"(?<![\w@])@(channel|here|everyone)\b")
_CODE = re.compile(r"```(.*?)```|`([^`\n]+)`", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Link:
    label: str
    url: str


@dataclass(kw_only=True)
class Read:
    """What a piece of markup comes to."""

    text: str = ""
    links: list[Link] = field(default_factory=list)
    pings: set[str] = field(default_factory=set)


def read_mrkdwn(text: str, world: World, *, linked: bool = False) -> Read:
    """Slack's own language: `<…>` are mentions and links, `*_~` styles, backticks code."""
    read = Read()
    shown: list[str] = []
    position = 0
    for entity in _ENTITY.finditer(text):
        shown.append(_styled(text[position : entity.start()], read))
        shown.append(_entity(entity.group(1), entity.group(2), world, read))
        position = entity.end()
    shown.append(_styled(text[position:], read))
    read.text = html.unescape("".join(shown))
    if linked:
        read.pings |= {found.group(1) for found in _PLAIN_PING.finditer(read.text)}
    return read


def _styled(text: str, read: Read) -> str:
    for found in _BARE_URL.finditer(text):
        url = html.unescape(found.group())
        read.links.append(Link(label=url, url=url))
    pieces = []
    position = 0
    for code in _CODE.finditer(text):
        pieces += [_STYLE.sub(r"\2", text[position : code.start()]), (code.group(1) or code.group(2)).strip("\n")]
        position = code.end()
    return "".join([*pieces, _STYLE.sub(r"\2", text[position:])])


def _entity(mark: str, inner: str, world: World, read: Read) -> str:
    target, _, label = inner.partition("|")
    match mark:
        case "@":
            read.pings.add(target)
            account = world.accounts.get(target)
            return f"@{account.name if account else label or target}"
        case "#":
            place = world.conversations.get(target)
            return f"#{place.name if place else label or target}"
        case "!":
            return _special(target, label, read)
        case _:
            return _link(target, label, read)


def _special(target: str, label: str, read: Read) -> str:
    name, _, group = target.partition("^")
    if name in {"channel", "here", "everyone"}:
        read.pings.add(name)
        return f"@{name}"
    if name == "subteam":
        read.pings.add(group)
        return f"@{label or group}"
    return label or target


def _link(target: str, label: str, read: Read) -> str:
    address = html.unescape(target)
    if not re.match(r"(https?|mailto|tel|slack):", address):
        return f"<{target}{'|' + label if label else ''}>"
    read.links.append(Link(label=html.unescape(label) or address, url=address))
    return label or target.removeprefix("mailto:")


def read_markdown(text: str, world: World) -> Read:
    """Real Markdown, as the `markdown` block and streamed text take it; mentions in `<…>` work there too."""
    read = Read()
    for mark, inner in re.findall(r"<([@!])([^<>\n]*)>", text):
        _entity(mark, inner, world, read)
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    read.text = lay_out(parser.parse(text), lambda tokens: _inline(tokens, world, read))
    return read


def _inline(tokens: list[Token], world: World, read: Read) -> str:
    shown = ""
    links: list[tuple[str, int]] = []
    for token in tokens:
        match token.type:
            case "link_open":
                links.append((str(token.attrs.get("href", "")), len(shown)))
            case "link_close":
                url, start = links.pop()
                read.links.append(Link(label=shown[start:], url=url))
            case "softbreak" | "hardbreak":
                shown += "\n"
            case "image":
                read.links.append(Link(label=token.content, url=str(token.attrs.get("src", ""))))
                shown += token.content
            case "text" | "code_inline":
                shown += _mentions(token.content, world) if token.type == "text" else token.content
    for found in _BARE_URL.finditer(shown):
        if not any(link.url == found.group() for link in read.links):
            read.links.append(Link(label=found.group(), url=found.group()))
    return shown


def _mentions(text: str, world: World) -> str:
    return re.sub(r"<([@#!])([^<>\n]*)>", lambda found: _entity(found.group(1), found.group(2), world, Read()), text)
