"""Loads web pages: the main content, without navigation and scripts."""

import re
from collections.abc import Iterator, Sequence

from lxml import etree

from crag_graph.knowledge.documents import BlockKind, LoadedDocument
from crag_graph.knowledge.errors import NoTextError
from crag_graph.knowledge.loaders.outline import Outline, clean
from crag_graph.knowledge.loaders.text import decode
from crag_graph.phrases import Phrase

Element = etree._Element  # noqa: SLF001 - lxml's name for the type of every element

_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset=[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")


def _tags(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_TEXT = _tags(
    "script style noscript template head svg math iframe object embed canvas audio video map "
    "select textarea button input dialog nav"
)
_AROUND = _tags("aside footer")
_AROUND_ROLES = _tags("navigation banner contentinfo search complementary dialog")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = _tags(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form header "
    "hgroup html legend li main menu ol p pre section summary table tbody td tfoot th thead tr ul h1 h2 h3 h4 h5 h6"
)
_MOST_SPANNED = 100
"""A colspan beyond this is an attack, not a table."""


def load_html(name: str, data: bytes, *, charset: str = "") -> LoadedDocument:
    """Headings, paragraphs, list items, table rows and code of the main content.

    `charset` is what the server named; the page's own words on it come second.
    """
    named = _CHARSET.search(data[:4096])
    page = _parsed(decode(data, charset or (named[1].decode("ascii") if named else "")))
    outline = Outline()
    main = _marked_main(page)
    around = frozenset[Element]() if main is not None else frozenset(_around(page))
    _Reader(outline, around).read(page if main is None else main)
    document = outline.document(name, "html", title=outline.title_heading() or page.findtext(".//title") or "")
    if not document.blocks:
        raise NoTextError(Phrase("The page is empty without its scripts."))
    return document


def add_fragment(outline: Outline, markup: str) -> None:
    """Adds a piece of HTML that stands within another format."""
    _Reader(outline, frozenset()).read(_parsed(markup))


def _parsed(markup: str) -> Element:
    """Never fails: what is not HTML is text."""
    parser = etree.HTMLParser(remove_comments=True, remove_pis=True)
    try:  # lxml refuses text that still names an encoding
        root = etree.fromstring(_XML_DECLARATION.sub("", clean(markup)), parser)
    except etree.XMLSyntaxError:  # nothing but space and comments
        root = None
    return etree.Element("html") if root is None else root


def _marked_main(page: Element) -> Element | None:
    """The one element that the page marks as its content."""
    for path in (".//main", ".//*[@role='main']", ".//article"):
        found = page.findall(path)
        if len(found) == 1 and _text(found[0]).strip():
            return found[0]
    return None


def _around(page: Element) -> list[Element]:
    """What stands around the content of a page that does not mark it; nothing where that is all there is."""
    found = {
        element
        for element in page.iter()
        if element.tag in _AROUND
        or element.get("role") in _AROUND_ROLES
        or (element.tag == "header" and element.find(".//h1") is None)
    }
    outermost = [element for element in found if not any(above in found for above in element.iterancestors())]
    return outermost if sum(len(_text(element).strip()) for element in outermost) < len(_text(page).strip()) else []


def _silent(element: Element) -> bool:
    """Never shown as text."""
    return element.tag in _NEVER_TEXT or element.get("hidden") is not None or element.get("aria-hidden") == "true"


def _texts(element: Element) -> Iterator[str]:
    if _silent(element):
        return
    yield element.text or ("\n" if element.tag == "br" else "")
    for child in element:
        yield from _texts(child)
        yield child.tail or ""


def _text(element: Element) -> str:
    return "".join(_texts(element))


class _Reader:
    """Walks over elements; text outside of block elements gathers until the next block begins."""

    def __init__(self, outline: Outline, left_out: frozenset[Element]) -> None:
        self._outline = outline
        self._left_out = left_out
        self._gathered: list[str] = []
        self._mark = ""

    def read(self, element: Element) -> None:
        self._children(element)
        self._flush()

    def _children(self, element: Element) -> None:
        self._gathered.append(_flat(element.text))
        for child in element:
            if child not in self._left_out and not _silent(child):
                self._element(child)
            self._gathered.append(_flat(child.tail))

    def _element(self, element: Element) -> None:
        tag = str(element.tag)
        if tag not in _BLOCKS:
            self._gathered.append("\n" if tag == "br" else "")
            self._children(element)
            return
        self._flush()
        if tag in _HEADINGS:
            self._outline.heading(_HEADINGS[tag], _text(element).rstrip(" \n¶#§"))
        elif tag == "pre":
            self._outline.add(BlockKind.CODE, _text(element))
        elif tag == "table" and _holds_data(element):
            self._table(element)
        elif tag == "dl":
            self._definitions(element)
        else:
            self._mark = _mark(element) or self._mark
            self._children(element)
            self._flush()
            self._mark = ""

    def _definitions(self, element: Element) -> None:
        term = ""
        for part in element.iter("dt", "dd"):
            if part.tag == "dt":
                term = _text(part)
            else:
                self._outline.add(BlockKind.LIST_ITEM, _flat(f"- {term}: {_text(part)}"))

    def _table(self, table: Element) -> None:
        caption = table.find("./caption")
        if caption is not None:
            self._outline.add(BlockKind.PARAGRAPH, _flat(_text(caption)))
        rows = _rows(table)
        header = all(cell.tag == "th" for cell in rows[0])
        self._outline.add_table(_grid(rows), header=header or None)

    def _flush(self) -> None:
        """Ends the paragraph or list item that is open; two `<br>` end a paragraph too."""
        text, self._gathered = "".join(self._gathered), []
        for paragraph in re.split(r"\n\s*\n", text):
            if not paragraph.strip():
                continue
            kind = BlockKind.LIST_ITEM if self._mark else BlockKind.PARAGRAPH
            self._outline.add(kind, self._mark + paragraph.strip())
            self._mark = ""


def _flat(text: str | None) -> str:
    """Line breaks of the markup are spaces."""
    return re.sub(r"\s+", " ", text or "")


def _mark(element: Element) -> str:
    if element.tag != "li":
        return ""
    parent = element.getparent()
    return f"{parent.index(element) + 1}. " if parent is not None and parent.tag == "ol" else "- "


def _holds_data(table: Element) -> bool:
    """Not a table that only lays out the page: it holds no other table and has more than one column."""
    return table.find(".//table") is None and any(len(row) > 1 for row in _rows(table))


def _rows(table: Element) -> list[Element]:
    return [row for row in table.iter("tr") if len(row)]


def _grid(rows: Sequence[Element]) -> list[list[str]]:
    """Text by row and column; a cell that spans several rows or columns is repeated in each."""
    carried: dict[int, tuple[int, str]] = {}
    return [_grid_row(row, carried) for row in rows]


def _grid_row(row: Element, carried: dict[int, tuple[int, str]]) -> list[str]:
    """`carried`: by column, for how many more rows a cell of an earlier row goes on, and its text."""
    cells: list[str] = []
    waiting = [cell for cell in reversed(row) for _ in range(_span(cell, "colspan"))]
    while waiting or len(cells) in carried:
        column = len(cells)
        if column in carried:
            left, text = carried.pop(column)
        else:
            cell = waiting.pop()
            left, text = _span(cell, "rowspan"), _text(cell)
        if left > 1:
            carried[column] = (left - 1, text)
        cells.append(text)
    return cells


def _span(cell: Element, attribute: str) -> int:
    value = cell.get(attribute, "1").strip()
    return min(max(int(value), 1), _MOST_SPANNED) if value.isdecimal() and len(value) < 5 else 1  # noqa: PLR2004 - digits
