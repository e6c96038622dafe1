"""Loads Word documents (DOCX): headings, paragraphs, lists and tables in reading order."""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator

from docx import Document
from docx.document import Document as WordDocument
from docx.opc.exceptions import OpcError
from lxml import etree

from crag_graph.knowledge.documents import BlockKind, LoadedDocument
from crag_graph.knowledge.errors import EncryptedError, NoTextError, TooLargeError, UnreadableError
from crag_graph.knowledge.loaders.outline import Outline
from crag_graph.phrases import Phrase

Element = etree._Element  # noqa: SLF001 - lxml's name for the type of every element

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TEXT = {f"{_W}t", f"{_W}tab", f"{_W}br", f"{_W}cr", f"{_W}noBreakHyphen"}
_SPACE_OF = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_LEFT_OUT = {f"{_W}del", f"{_W}moveFrom", f"{_W}txbxContent", f"{_W}pict", f"{_W}instrText"}
"""Text that was deleted or moved away, and boxes, which Word stores twice."""
_HEADING = re.compile(r"heading (\d)$", re.IGNORECASE)
_TOC = re.compile(r"toc (\d|heading)$", re.IGNORECASE)
_PARSED_SHARE = 0.3
"""XML takes many times its size in memory; the rest may be pictures."""
_DAMAGED = (
    OpcError,
    zipfile.BadZipFile,
    zlib.error,
    etree.XMLSyntaxError,
    EOFError,
    KeyError,
    ValueError,
    AttributeError,
    NotImplementedError,
)
"""What python-docx and zipfile raise on a file that is not, or no longer, a Word document."""


def load_docx(name: str, data: bytes, *, unpacked: int = 100_000_000) -> LoadedDocument:
    """`unpacked`: how many bytes the archive may hold once it is unpacked."""
    document = _opened(data, unpacked)
    body = document.element.find(f"{_W}body")
    if body is None:
        raise UnreadableError(Phrase("The Word document has no body."))
    outline = Outline()
    _Reader(outline, document).read(body)
    properties = document.core_properties
    loaded = outline.document(
        name,
        "docx",
        title=outline.title_heading() or properties.title,
        properties="\n".join(filter(None, (properties.content_status, properties.category, properties.keywords))),
    )
    if not loaded.blocks:
        raise NoTextError(Phrase("The document holds pictures at most."))
    return loaded


def _opened(data: bytes, unpacked: int) -> WordDocument:
    try:
        _check_archive(data, unpacked)
        return Document(io.BytesIO(data))
    except _DAMAGED as error:
        raise UnreadableError(Phrase("It cannot be read as a Word document.")) from error


def _check_archive(data: bytes, unpacked: int) -> None:
    """Refuses a zip bomb before anything is unpacked; a size that lies ends in a damaged archive later."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if any(member.flag_bits & 1 for member in members):
            raise EncryptedError
        parsed = sum(member.file_size for member in members if member.filename.endswith((".xml", ".rels")))
        if sum(member.file_size for member in members) > unpacked or parsed > unpacked * _PARSED_SHARE:
            raise TooLargeError(Phrase("Unpacked it is far larger than it looks."))


class _Reader:
    """Walks over the body; the title style is a heading above all others."""

    def __init__(self, outline: Outline, document: WordDocument) -> None:
        self._outline = outline
        self._styles = {style.style_id: style.name or "" for style in document.styles}

    def read(self, parent: Element) -> None:
        """Adds the paragraphs and tables within an element."""
        for child in parent:
            if child.tag == f"{_W}p":
                self._paragraph(child)
            elif child.tag == f"{_W}tbl":
                self._table(child)
            elif child.tag not in _LEFT_OUT:  # a content control or an insertion holds blocks of its own
                self.read(child)

    def _paragraph(self, paragraph: Element) -> None:
        style = self._style(paragraph)
        text = "".join(_texts(paragraph))
        if _TOC.match(style):
            return
        if style == "Title":
            self._outline.heading(1, text)
        elif heading := _HEADING.match(style):
            self._outline.heading(int(heading[1]) + 1, text)
        elif style.startswith("List") or paragraph.find(f"./{_W}pPr/{_W}numPr") is not None:
            self._outline.add(BlockKind.LIST_ITEM, f"- {text}" if text.strip() else "")
        else:
            self._outline.add(BlockKind.PARAGRAPH, text)

    def _style(self, paragraph: Element) -> str:
        named = paragraph.find(f"./{_W}pPr/{_W}pStyle")
        return self._styles.get(named.get(f"{_W}val", ""), "") if named is not None else ""

    def _table(self, table: Element) -> None:
        """A table of one column, or with a table in it, only lays out the page."""
        rows = [list(row.iterfind(f"./{_W}tc")) for row in table.iterfind(f"./{_W}tr")]
        if table.find(f".//{_W}tbl") is not None or max(map(len, rows), default=0) < 2:  # noqa: PLR2004 - columns
            for row in rows:
                for cell in row:
                    self.read(cell)
            return
        header = table.find(f"./{_W}tr/{_W}trPr/{_W}tblHeader") is not None
        self._outline.add_table([list(_cells(row)) for row in rows], header=header or None)


def _cells(row: list[Element]) -> Iterator[str]:
    """A cell that spans several columns is repeated in each."""
    for cell in row:
        span = cell.find(f"./{_W}tcPr/{_W}gridSpan")
        width = span.get(f"{_W}val", "1") if span is not None else "1"
        text = " ".join("".join(_texts(paragraph)) for paragraph in cell.iter(f"{_W}p"))
        yield from [text] * (int(width) if width in "123456789" else 1)


def _texts(element: Element) -> Iterator[str]:
    for child in element:
        if child.tag in _TEXT:
            yield _SPACE_OF.get(str(child.tag)) or child.text or ""
        elif child.tag not in _LEFT_OUT:
            yield from _texts(child)
