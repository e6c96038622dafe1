"""Reads Slack's two markup languages as a person's screen shows them."""

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.slack_workspace.compose import unescape
from tests.slack_workspace.paragraphs import lay_out
from tests.slack_workspace.world import World

_MENTION = re.compile(r"(?<!\\)<([@#!])([^<>\n]+)>")
_HELD = "\uf8ff"
"""A private character around the number of an entity that is being held."""
_BARE_URL = re.compile(r"(?<![\w/])https?://[^\s<>|]+[^\s<>|.,;:!?)\]]")
_ENTITY = re.compile(rf"<([@#!]?)([^<>\n]+)>|{_BARE_URL.pattern}")
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
    entities = Entities(world)
    held = entities.hold(text, _ENTITY)
    read = entities.read
    read.text = entities.release(unescape(_styled(held)))
    if linked:
        read.pings |= {found.group(1) for found in _PLAIN_PING.finditer(read.text)}
    return read


def read_markdown(text: str, world: World) -> Read:
    """Real Markdown, as the `markdown` block and streamed text take it; mentions in `<…>` work there too."""
    entities = Entities(world)
    held = entities.hold(text, _MENTION)
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    read = entities.read
    read.text = entities.release(lay_out(parser.parse(held), lambda tokens: _inline(tokens, read)))
    read.links = [Link(label=entities.release(link.label), url=link.url) for link in read.links]
    return read


class Entities:
    """Takes mentions and links out of the text while the rest of its markup is read."""

    def __init__(self, world: World) -> None:
        self.read = Read()
        self._world = world
        self._shown: dict[str, str] = {}

    def hold(self, text: str, pattern: re.Pattern[str]) -> str:
        return pattern.sub(self._take, text)

    def release(self, text: str) -> str:
        return re.sub(f"{_HELD}\\d+{_HELD}", lambda found: self._shown.get(found.group(), found.group()), text)

    def _take(self, found: re.Match[str]) -> str:
        mark, inner = (found.group(1), found.group(2)) if found.group(2) else ("", found.group())
        held = f"{_HELD}{len(self._shown)}{_HELD}"
        self._shown[held] = _entity(mark, inner, self._world, self.read)
        return held


def _styled(text: str) -> str:
    pieces = []
    position = 0
    for code in _CODE.finditer(text):
        pieces += [_STYLE.sub(r"\2", text[position : code.start()]), (code.group(1) or code.group(2)).strip("\n")]
        position = code.end()
    return "".join([*pieces, _STYLE.sub(r"\2", text[position:])])


def _entity(mark: str, inner: str, world: World, read: Read) -> str:
    """What stands for the entity on the screen; whom it pings and what it links to are noted."""
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
    address, shown = unescape(target), unescape(label)
    if not re.match(r"(https?|mailto|tel|slack):", address):
        return f"<{address}{'|' + shown if shown else ''}>"
    read.links.append(Link(label=shown or address, url=address))
    return shown or address.removeprefix("mailto:")


def _inline(tokens: list[Token], read: Read) -> str:
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
            case _:
                shown += token.content
    known = {link.url for link in read.links}
    read.links += [Link(label=url, url=url) for url in _BARE_URL.findall(shown) if url not in known]
    return shown
