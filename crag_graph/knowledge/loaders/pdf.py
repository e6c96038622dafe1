"""Loads PDF files: the lines of each page, from which the layout is made out."""

import re
import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

import pypdfium2
from pypdfium2 import raw

from crag_graph.knowledge.documents import LoadedDocument
from crag_graph.knowledge.errors import EncryptedError, NoTextError, TooLargeError, UnreadableError
from crag_graph.knowledge.loaders.outline import Outline, one_line
from crag_graph.knowledge.loaders.pdf_layout import Cell, LayoutWriter, Line, without_running_titles
from crag_graph.phrases import Phrase
from crag_graph.sentences import bullet

_PDFIUM = threading.Lock()
"""PDFium may be used by one thread at a time."""
_LINE_ENDS = (0x0D, 0x0A)
_CELL_GAP = 0.7
"""A gap wider than this, measured in letter heights, separates two cells."""
_MADE_BY_PROGRAM = re.compile(r"(microsoft (word|powerpoint)\b.*|untitled.*|.*\.\w{2,4})?$", re.IGNORECASE)


def load_pdf(name: str, data: bytes, *, pages: int = 2_000) -> LoadedDocument:
    """At most `pages` pages are allowed. Pages without text (scanned ones) give nothing."""
    with _PDFIUM:
        lines, title = _read(data, pages)
    lines = without_running_titles(lines)
    if not lines:
        raise NoTextError(Phrase("Its pages are pictures, as of a scan: let a program recognise the text first."))
    outline = Outline()
    LayoutWriter(outline, lines).write()
    return outline.document(name, "pdf", title=outline.first_heading() if _MADE_BY_PROGRAM.match(title) else title)


def _read(data: bytes, pages: int) -> tuple[list[Line], str]:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in {raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY}:
            raise EncryptedError from error
        raise UnreadableError(Phrase("It cannot be read as a PDF.")) from error
    with document:
        if len(document) > pages:
            raise TooLargeError(Phrase("It has {pages} pages; {most} are allowed."), pages=len(document), most=pages)
        lines = [line for number in range(len(document)) for line in _page_lines(document, number)]
        return lines, one_line(document.get_metadata_dict().get("Title", ""))


def _page_lines(document: pypdfium2.PdfDocument, number: int) -> Iterator[Line]:
    try:
        text = document[number].get_textpage()
    except pypdfium2.PdfiumError:  # one damaged page does not spoil the others
        return
    codes = [raw.FPDFText_GetUnicode(text, index) for index in range(text.count_chars())]
    start = 0
    for index, code in enumerate([*codes, _LINE_ENDS[0]]):
        if code in _LINE_ENDS:
            if line := _line(text, codes, start, index, number + 1):
                yield line
            start = index + 1


def _line(text: pypdfium2.PdfTextPage, codes: Sequence[int], start: int, end: int, page: int) -> Line | None:
    """The line of the characters from `start` to `end`, cut into cells at wide gaps."""
    words = _words(codes, start, end)
    if not words:
        return None
    boxes = [(text.get_charbox(first, loose=True), text.get_charbox(last, loose=True)) for first, last in words]
    height = median(first[3] - first[1] for first, _ in boxes)
    cells: list[Cell] = []
    for (first, last), (left, right) in zip(words, boxes, strict=True):
        word = "".join(map(chr, codes[first : last + 1]))
        if cells and (left[0] - cells[-1].right < _CELL_GAP * height or bullet(f"{cells[-1].text} ")):
            cells[-1] = Cell(f"{cells[-1].text} {word}", cells[-1].left, right[2])
        else:
            cells.append(Cell(word, left[0], right[2]))
    return Line(tuple(cells), boxes[0][0][1], height, page)


def _words(codes: Sequence[int], start: int, end: int) -> list[tuple[int, int]]:
    """First and last index of each run of characters without space."""
    spaces = [index for index in range(start, end) if not codes[index] or chr(codes[index]).isspace()]
    borders = [start - 1, *spaces, end]
    return [(before + 1, after - 1) for before, after in pairwise(borders) if after - before > 1]
