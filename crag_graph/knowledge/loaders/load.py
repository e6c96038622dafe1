"""From the name and the bytes of a file to a document: finds the loader, and refuses what is something else."""

import asyncio
import re
from dataclasses import dataclass
from enum import StrEnum

from crag_graph.knowledge.documents import LoadedDocument
from crag_graph.knowledge.errors import (
    EncryptedError,
    NoTextError,
    TooLargeError,
    UnreadableError,
    UnsupportedError,
)
from crag_graph.knowledge.loaders.docx import load_docx
from crag_graph.knowledge.loaders.html import load_html
from crag_graph.knowledge.loaders.markdown import load_markdown
from crag_graph.knowledge.loaders.outline import path_of
from crag_graph.knowledge.loaders.pdf import load_pdf
from crag_graph.knowledge.loaders.text import load_text
from crag_graph.phrases import Phrase, amount


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much one document may hold.

    `size` in bytes; `unpacked`, of a DOCX, too; `text` in bytes of Markdown, plain text and HTML, and in
    characters of what any format gives.
    """

    size: int = 50_000_000
    unpacked: int = 100_000_000
    text: int = 5_000_000
    pages: int = 2_000


class Format(StrEnum):
    MARKDOWN = "Markdown"
    TEXT = "text"
    HTML = "HTML"
    PDF = "PDF"
    DOCX = "DOCX"


_TEXTS = frozenset([Format.MARKDOWN, Format.TEXT, Format.HTML])
_BY_EXTENSION = {
    **dict.fromkeys(("md", "markdown"), Format.MARKDOWN),
    **dict.fromkeys(("txt", "text"), Format.TEXT),
    **dict.fromkeys(("html", "htm", "xhtml"), Format.HTML),
    "pdf": Format.PDF,
    "docx": Format.DOCX,
}
_BY_CONTENT_TYPE = {
    "text/markdown": Format.MARKDOWN,
    "text/plain": Format.TEXT,
    "text/html": Format.HTML,
    "application/xhtml+xml": Format.HTML,
    "application/pdf": Format.PDF,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": Format.DOCX,
}
_SUPPORTED = Phrase("Supported are Markdown, text, HTML, PDF and DOCX.")
_OLD = Phrase("It is an old Office file: save it as DOCX. Supported are Markdown, text, HTML, PDF and DOCX.")

_WEB_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_ZIP = b"PK\x03\x04"


def supported(name: str) -> bool:
    """The file's name ends like one that can be loaded."""
    return _extension(name) in _BY_EXTENSION


async def load(name: str, data: bytes, *, content_type: str = "", limits: Limits | None = None) -> LoadedDocument:
    """The document in `data`. Its `source` is `name`: a path, a file's name or an address.

    The name's ending decides, then the content type (`text/html; charset=…`), then the first bytes; the
    content must be of that format. Raises a DocumentError. Parsers run in a thread.
    """
    limits = limits or Limits()
    if len(data) > limits.size:
        raise TooLargeError(
            Phrase("It has {bytes} bytes; {most} are allowed."), bytes=amount(len(data)), most=amount(limits.size)
        )
    if not data.strip():
        raise NoTextError(Phrase("The file is empty."))
    chosen = _choose(name, data, content_type)
    _check_content(chosen, data)
    if chosen in _TEXTS and len(data) > limits.text:
        raise TooLargeError(
            Phrase("It has {bytes} bytes of text; {most} are allowed."),
            bytes=amount(len(data)),
            most=amount(limits.text),
        )
    return await asyncio.to_thread(_load, chosen, name, data, _charset(content_type), limits)


def _load(chosen: Format, name: str, data: bytes, charset: str, limits: Limits) -> LoadedDocument:
    match chosen:
        case Format.MARKDOWN:
            document = load_markdown(name, data)
        case Format.TEXT:
            document = load_text(name, data, charset=charset)
        case Format.HTML:
            document = load_html(name, data, charset=charset)
        case Format.PDF:
            document = load_pdf(name, data, pages=limits.pages)
        case Format.DOCX:
            document = load_docx(name, data, unpacked=limits.unpacked)
    if not document.blocks:
        raise NoTextError
    if sum(len(block.text) for block in document.blocks) > limits.text:
        raise TooLargeError(Phrase("Its text has more than {most} characters."), most=amount(limits.text))
    return document


def _choose(name: str, data: bytes, content_type: str) -> Format:
    """The format that name, content type or content speak for, in this order."""
    by_name = _BY_EXTENSION.get(_extension(name))
    by_type = _BY_CONTENT_TYPE.get(content_type.partition(";")[0].strip().lower())
    if by_name in {Format.PDF, Format.DOCX} or not by_type:
        chosen = by_name or (_sniffed(data) if not _extension(name) else None)
    else:
        chosen = by_name if by_name and by_type is Format.TEXT else by_type
    if chosen is None:
        raise UnsupportedError(_SUPPORTED)
    return chosen


def _sniffed(data: bytes) -> Format | None:
    if _is_pdf(data):
        return Format.PDF
    if data.startswith(_ZIP):
        return Format.DOCX
    return Format.HTML if _WEB_PAGE.match(data[:4096]) else None


def _check_content(chosen: Format, data: bytes) -> None:
    """A sign-in page is often sent in place of a file; a file may have been given another ending."""
    is_page = _WEB_PAGE.match(data[:4096]) is not None
    if is_page and chosen is not Format.HTML:
        raise UnreadableError(Phrase("It is a web page, perhaps one for signing in, and not {format}."), format=chosen)
    if data.startswith(_OLD_OFFICE):
        if _ENCRYPTED_PACKAGE in data:
            raise EncryptedError
        raise UnsupportedError(_OLD)
    if (chosen is Format.PDF) != _is_pdf(data) or (chosen is Format.DOCX) != data.startswith(_ZIP):
        raise UnreadableError(Phrase("Its content is not {format}."), format=chosen)


def _is_pdf(data: bytes) -> bool:
    """Readers accept a PDF whose mark is not at the very beginning."""
    return b"%PDF-" in data[:1024]


def _extension(name: str) -> str:
    """Of a path or address, in lower case; empty where there is none."""
    last = re.split(r"[/\\]", path_of(name))[-1]
    return last.rpartition(".")[2].lower() if "." in last.lstrip(".") else ""


def _charset(content_type: str) -> str:
    named = re.search(r"charset=[\"']?([\w.:-]+)", content_type, re.IGNORECASE)
    return named[1] if named else ""
