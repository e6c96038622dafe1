"""From an answer to Slack messages within all of Slack's limits; pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from bot.questions import Answered
from bot.slack.text.markdown import make_safe
from bot.slack.text.mrkdwn import escape
from bot.slack.text.splitting import best_cut, cut, split
from bot.slack.views.offers import STOP, STOP_ALOUD, STOP_LABEL, Possible, button, buttons, offers, web_reached
from crag_graph.domain import Answer, Citation, Kind, Verdict
from crag_graph.phrases import Phrase

Block = dict[str, Any]

LONGEST_BLOCK = 3_000
"""Characters of one block: longer ones are folded away on the reader's screen."""
MOST_MARKDOWN = 11_500
"""Characters of all `markdown` blocks of a message; Slack takes 12,000."""
MOST_CHARACTERS = 12_500
"""Characters of a message; Slack takes about 13,200."""
MOST_BLOCKS = 48
"""Blocks of a message; Slack takes 50."""
LONGEST_TEXT = 3_900
"""Characters of a message's `text`; chat.update takes 4,000."""
LONGEST_STREAM = 9_000
"""Characters of text that one streamed message grows to: verdict and sources need room below."""
LONGEST_LINK = 3_000
LONGEST_NAME = 200
LONGEST_SUMMARY = 240

VERDICTS = {
    Verdict.CORRECT: Phrase("Answered from your documents"),
    Verdict.AMBIGUOUS: Phrase("Your documents only partly cover this; completed from the web"),
    Verdict.INCORRECT: Phrase("Not in your documents; answered from the web"),
}
PARTLY = Phrase("Your documents only partly cover this")
OF_FILES = {
    Verdict.CORRECT: Phrase("Answered from the files"),
    Verdict.AMBIGUOUS: Phrase("The files only partly cover this"),
}
WEB_TOO = Phrase("Answered from your documents and the web")
WEB_ADDED_NOTHING = Phrase("Answered from your documents; the web, asked too, added nothing")
QUOTED = Phrase("Quoted from the sources, word for word.")
KINDS = {Kind.INTERNAL: Phrase("internal"), Kind.WEB: Phrase("web")}
SUPERSEDED = Phrase("superseded")
NEWER = Phrase("has a newer version: {title}")

UNTITLED = Phrase("untitled")
CONTINUED = Phrase("Continued: {text}")
SOURCES = Phrase("sources")
HELPED = Phrase("Was this helpful?")
SAID = Phrase("{verdict}: {answer}")

LONGEST_SPOKEN = 1_000
"""Characters of an answer of which a summary is made."""

_LEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+|>\s?|[-+*]\s+)", re.MULTILINE)
_STYLED = (
    re.compile(r"(\*{1,3})(?=\S)(.+?)(?<=\S)\1"),
    re.compile(r"(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)"),
    re.compile(r"(~~)(?=\S)(.+?)(?<=\S)\1"),
)
_LINK = re.compile(r"\[([^\[\]\n]+)\]\([^()\s]+\)")
_MARK = re.compile(r"\s?\[\d+\]")


@dataclass(frozen=True, kw_only=True)
class Post:
    """One message. `text` is what notifications and screen readers use, and all there is without blocks."""

    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What is to be said for one question, whatever way it reaches the asker; plain data."""

    body: str
    """Markdown, made safe."""
    closing: tuple[Block, ...] = ()
    """What stands below the body: verdict, sources, buttons."""
    summary: str = ""
    """One sentence for notifications, escaped."""
    plain: str = ""
    """All of it in Slack's own markup, for where Slack takes no blocks."""


def answer_reply(
    answered: Answered, possible: Possible | None = None, *, of_files: bool = False, remarks: Iterable[str] = ()
) -> Reply:
    """An answer or abstention with its verdict, its sources, and the buttons that are `possible` where it stands.

    `of_files`: it was asked of files that came with the question; `remarks`: what must be known of them.
    """
    answer = answered.answer
    verdict = _verdict_of_files(answered) if of_files else _verdict(answered)
    told = [[text(remark, italic=True)] for remark in remarks]
    lines = [*_remarks(answer, verdict), *told, *_sources(answer.citations)]
    return Reply(
        body=make_safe(answer.text, {citation.link for citation in answer.citations if citation.link}),
        closing=(*_rich(lines), *_buttons(answered, possible)),
        summary=_summary(answer, verdict),
        plain="\n".join([escape(answer.text), "", *("".join(map(_plain, line)) for line in lines)]).strip(),
    )


def _buttons(answered: Answered, possible: Possible | None) -> tuple[Block, Block]:
    if possible is None:
        return buttons(answered.trace_id)
    return buttons(answered.trace_id, offers(answered, possible), keeping=possible.keeping)


def notice_reply(text: str, *, spoken: str = "") -> Reply:
    """A few words of ours, in Markdown; `spoken`: what notifications say of it, where that is not all of it."""
    return Reply(body=make_safe(text), summary=escape(_speak(spoken or text)), plain=escape(text))


def posts(reply: Reply, *, shown: int = 0) -> tuple[Post, ...]:
    """The messages of a reply, in order. `shown`: so many characters of the body stand in the first one already."""
    rest = cut(reply.body, shown)[1]
    body = [{"type": "markdown", "text": piece} for piece in split(rest, LONGEST_BLOCK)]
    packed = pack([*body, *reply.closing], used=shown)
    first, *more = packed or [[]]
    texts = [reply.summary, *(_cut(CONTINUED(text=_speak(_words_of(blocks)))) for blocks in more)]
    return tuple(Post(text=text, blocks=tuple(blocks)) for text, blocks in zip(texts, [first, *more], strict=True))


def stoppable(words: str, item: str) -> Post:
    """A sign of work in Slack's markup, at most 3,000 characters, with a button that ends the work on the item."""
    section = {"type": "section", "text": {"type": "mrkdwn", "text": words}}
    stop = button(STOP, STOP_LABEL(), item, aloud=STOP_ALOUD())
    return Post(text=_speak(words), blocks=(section, {"type": "actions", "elements": [stop]}))


def streamed_length(body: str, shown: int) -> int:
    """How much of the body a streamed message takes in that shows so many characters of it already."""
    if len(body) <= LONGEST_STREAM:
        return len(body)
    return max(shown, best_cut(body, LONGEST_STREAM))


def plain_posts(reply: Reply) -> tuple[Post, ...]:
    """The same without blocks but the buttons, which come in a message of their own."""
    said = [Post(text=piece) for piece in split(reply.plain, LONGEST_TEXT)]
    offered = tuple(block for block in reply.closing if block["type"] in {"actions", "context_actions"})
    return (*said, Post(text=HELPED(), blocks=offered)) if offered else tuple(said)


def pack(blocks: Sequence[Block], *, used: int = 0) -> list[list[Block]]:
    """The blocks in messages, in order. `used`: characters of Markdown that the first message holds already."""
    messages: list[list[Block]] = [[]]
    room = _Room(used=used)
    for block in blocks:
        if not room.take(block):
            messages.append([])
            room = _Room()
            room.take(block)
        messages[-1].append(block)
    return [message for index, message in enumerate(messages) if message or (used and index == 0)]


def plain_text(text: str) -> dict[str, str]:
    return {"type": "plain_text", "text": text}


def characters(node: Any) -> int:
    """All the text that blocks show."""
    if isinstance(node, list | tuple):
        return sum(map(characters, node))
    if not isinstance(node, dict):
        return 0
    own = node.get("text")
    return (len(own) if isinstance(own, str) else 0) + sum(characters(value) for value in node.values())


Line = list[dict[str, Any]]
"""Elements of a `rich_text_section`. They are structure, not markup: nothing in a title can become a link or a ping."""


def text(words: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": words, **({"style": style} if style else {})}


def link(words: str, address: str | None) -> dict[str, Any]:
    """A link where the address is one that a browser may open, else the words alone."""
    if not address or len(address) > LONGEST_LINK or not opens(address):
        return text(words)
    return {"type": "link", "url": address, "text": words}


def opens(address: str) -> bool:
    """An http or https address, well formed."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not re.search(r"\s", address)


def shorten(words: str, longest: int = LONGEST_NAME) -> str:
    """The words on one line, at most so many characters."""
    line = " ".join(words.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _remarks(answer: Answer, verdict: str) -> Iterator[Line]:
    if not answer.abstained:
        yield [text(verdict, bold=True)]
    if answer.quoted:
        yield [text(QUOTED(), italic=True)]
    if answer.notice:
        yield [text(answer.notice, italic=True)]


def _verdict(answered: Answered) -> str:
    """What the answer is made of, in one line. Under a correct verdict the web is asked where the asker wants it."""
    verdict, web_cited = answered.answer.verdict, any(c.kind is Kind.WEB for c in answered.answer.citations)
    if verdict is Verdict.AMBIGUOUS and not web_cited:
        return PARTLY()
    if verdict is Verdict.CORRECT and web_reached(answered):
        return WEB_TOO() if web_cited else WEB_ADDED_NOTHING()
    return VERDICTS[verdict]()


def _verdict_of_files(answered: Answered) -> str:
    """The same where files were asked that came with the question, and the web only if the asker wanted it."""
    web = web_reached(answered) or any(citation.kind is Kind.WEB for citation in answered.answer.citations)
    said = OF_FILES.get(answered.answer.verdict)
    return said() if said and not web else _verdict(answered)


def _sources(citations: Iterable[Citation]) -> Iterator[Line]:
    for citation in citations:
        place = f" — {shorten(citation.location)}" if citation.location else ""
        title = shorten(citation.title) or shorten(citation.source) or UNTITLED()
        about = [KINDS[citation.kind](), *_outdated(citation)]
        yield [text(f"[{citation.mark}] "), link(title, citation.link), text(f"{place} · {' · '.join(about)}")]


def _outdated(citation: Citation) -> Iterator[str]:
    if citation.superseded:
        yield SUPERSEDED()
    if citation.newer:
        yield NEWER(title=shorten(citation.newer))


def _rich(lines: Iterable[Line]) -> Iterator[Block]:
    """The lines as blocks, none of them so long that it is folded away."""
    group: list[Line] = []
    for line in lines:
        if group and characters([*group, line]) > LONGEST_BLOCK:
            yield _section(group)
            group = []
        group.append(line)
    if group:
        yield _section(group)


def _section(lines: list[Line]) -> Block:
    elements = [element for index, line in enumerate(lines) for element in ([text("\n")] if index else []) + line]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def _plain(element: dict[str, Any]) -> str:
    words = escape(element["text"])
    return f"<{_address(element['url'])}|{words}>" if element["type"] == "link" else words


def _address(url: str) -> str:
    for bad, good in (("&", "&amp;"), ("<", "%3C"), (">", "%3E"), ("|", "%7C")):
        url = url.replace(bad, good)
    return url


def _summary(answer: Answer, verdict: str) -> str:
    said = _speak(answer.text[:LONGEST_SPOKEN])
    return _cut(said if answer.abstained else SAID(verdict=verdict, answer=said))


def _speak(markdown: str) -> str:
    """The words without marks and markup; a `_` or `#` within a word is part of it."""
    words = _LINK.sub(r"\1", _LEADING.sub("", _MARK.sub("", markdown)))
    for styled in _STYLED:
        words = styled.sub(r"\2", words)
    return " ".join(words.replace("`", "").replace("|", " ").split())


def _cut(words: str) -> str:
    return escape(shorten(words, LONGEST_SUMMARY))


def _words_of(blocks: Sequence[Block]) -> str:
    first = blocks[0]
    return str(first["text"]) if first["type"] == "markdown" else SOURCES()


@dataclass
class _Room:
    """What is left in one message."""

    used: int = 0
    blocks: int = 0
    markdown: int = 0

    def __post_init__(self) -> None:
        self.markdown = self.used

    def take(self, block: Block) -> bool:
        """True where the block fits, which is then counted; an empty message takes any."""
        size = characters(block)
        markdown = size if block["type"] == "markdown" else 0
        fits = (
            self.blocks < MOST_BLOCKS
            and self.used + size <= MOST_CHARACTERS
            and self.markdown + markdown <= MOST_MARKDOWN
        )
        self.used, self.blocks, self.markdown = self.used + size, self.blocks + 1, self.markdown + markdown
        return fits
