"""Loads Markdown: CommonMark with tables, HTML within it, and front matter."""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from crag_graph.knowledge.documents import BlockKind, LoadedDocument
from crag_graph.knowledge.loaders.html import add_fragment
from crag_graph.knowledge.loaders.outline import Outline, clean
from crag_graph.knowledge.loaders.text import decode

_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*(?P<quote>[\"']?)(?P<title>.+?)(?P=quote)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_END_ITEM = {
    *("heading_open", "bullet_list_open", "ordered_list_open", "bullet_list_close", "ordered_list_close"),
    *("list_item_open", "list_item_close", "fence", "code_block", "html_block", "table_open"),
}
_MARKDOWN = MarkdownIt("commonmark").enable("table")


def load_markdown(name: str, data: bytes) -> LoadedDocument:
    """Headings, paragraphs, list items with their marks, table rows and code."""
    text = clean(decode(data))
    front_matter = _FRONT_MATTER.match(text)
    properties = front_matter[1] if front_matter else ""
    title = _TITLE.search(properties)
    outline = Outline()
    _Reader(outline).read(_MARKDOWN.parse(text[front_matter.end() if front_matter else 0 :]))
    return outline.document(name, "markdown", title=title["title"] if title else "", properties=properties)


class _Reader:
    """Walks over the tokens of a document; `_marks` has the next mark of each list that is open."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._marks: list[str] = []
        self._item: list[str] | None = None

    def read(self, tokens: Sequence[Token]) -> None:
        walk = iter(tokens)
        for token in walk:
            if token.type in _END_ITEM:
                self._close_item()
            match token.type:
                case "heading_open":
                    self._outline.heading(int(token.tag[1:]), _inline_text(next(walk)))
                case "inline":
                    self._text(_inline_text(token))
                case "fence" | "code_block":
                    self._outline.add(BlockKind.CODE, token.content)
                case "html_block":
                    add_fragment(self._outline, token.content)
                case "table_open":
                    self._outline.add_table(_table(walk), header=True)
                case _:
                    self._list(token)

    def _list(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._marks.append(_first_mark(token))
            case "bullet_list_close" | "ordered_list_close":
                self._marks.pop()
            case "list_item_open":
                self._open_item()

    def _text(self, text: str) -> None:
        """A paragraph of its own, or one more of the list item that is open."""
        if self._item is None:
            self._outline.add(BlockKind.PARAGRAPH, text)
        else:
            self._item.append(text)

    def _open_item(self) -> None:
        mark = self._marks[-1]
        self._item = [f"{mark} "]
        if mark != "-":
            self._marks[-1] = f"{int(mark[:-1]) + 1}."

    def _close_item(self) -> None:
        """What follows a nested list or code within an item is a paragraph of its own."""
        if self._item is not None and len(self._item) > 1:
            mark, *paragraphs = self._item
            self._outline.add(BlockKind.LIST_ITEM, mark + "\n".join(paragraphs))
        self._item = None


def _first_mark(token: Token) -> str:
    return f"{token.attrs.get('start', 1)}." if token.type == "ordered_list_open" else "-"


def _table(walk: Iterator[Token]) -> list[list[str]]:
    """The cells of the table that is open; reads up to its end."""
    rows: list[list[str]] = []
    for token in walk:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_inline_text(token))
    return rows


def _inline_text(token: Token) -> str:
    """The words of a line without markup; links and images give their text."""
    return "".join(_piece(child) for child in token.children or ())


def _piece(token: Token) -> str:
    if token.type in {"softbreak", "hardbreak"}:
        return "\n"
    if token.type == "html_inline":
        return " " if token.content.lower().startswith(("<br", "</p", "</div", "</li")) else ""
    return _inline_text(token) if token.type == "image" else token.content
