"""Loads plain text, in whatever encoding it comes."""

import re

import charset_normalizer

from crag_graph.knowledge.documents import BlockKind, LoadedDocument
from crag_graph.knowledge.errors import UnknownEncodingError
from crag_graph.knowledge.loaders.outline import Outline
from crag_graph.sentences import bullet, row

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
"""Byte order marks; the longer of two that begin alike comes first."""
_WESTERN = frozenset("äöüßéèêëàâáãåæçîïíìñóòôõøœúùûÿÄÖÜÉÈÊËÀÂÁÃÅÆÇÎÏÍÑÓÔÕØŒÚÛ")
_INSIDE_WORDS = frozenset("’'-–—·\xad")


def load_text(name: str, data: bytes, *, charset: str = "") -> LoadedDocument:
    """Paragraphs, list items, rows and underlined headings; a line that was only wrapped stays in its paragraph."""
    outline = Outline()
    for paragraph in re.split(r"\n\s*\n", _line_ends(decode(data, charset)).strip("\n")):
        _add_paragraph(outline, paragraph)
    return outline.document(name, "text")


def decode(data: bytes, hint: str = "") -> str:
    """The text of the bytes; `hint` is the encoding that the sender names. Raises UnknownEncodingError."""
    for encoding in (*(found for mark, found in _MARKS if data.startswith(mark)), hint, "utf-8"):
        if (text := _decoded(data, encoding)) is not None and _reads_as_text(text):
            return text
    western = _decoded(data, "cp1252")
    if western is not None and _reads_as_western(western):
        return western
    guess = charset_normalizer.from_bytes(data).best()
    if guess is None or not _reads_as_text(str(guess)):
        raise UnknownEncodingError
    return str(guess)


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding) if encoding else None
    except (LookupError, UnicodeError):
        return None


def _reads_as_text(text: str) -> bool:
    """Not full of control characters: UTF-16 that is read as UTF-8 has a NUL at every other place."""
    odd = sum(text.count(chr(code)) for code in range(32) if chr(code) not in "\t\n\r\x0b\x0c")
    return odd * 3 <= len(text)


def _reads_as_western(text: str) -> bool:
    """At most half of the letters beyond ASCII, all of them usual in western Europe, and no signs within words."""
    beyond = [position for position, character in enumerate(text) if not character.isascii()]
    letters = [text[position] for position in beyond if text[position].isalpha()]
    signs = [position for position in beyond if not text[position].isalpha()]
    return (
        _WESTERN.issuperset(letters)
        and len(letters) * 2 <= sum(map(str.isalpha, text))
        and not any(_within_word(text, position) for position in signs if text[position] not in _INSIDE_WORDS)
        and _reads_as_text(text)
    )


def _within_word(text: str, position: int) -> bool:
    return text[max(0, position - 1) : position].isalpha() and text[position + 1 : position + 2].isalpha()


def _line_ends(text: str) -> str:
    return re.sub(r"\r\n?|[\x0b\x85\u2028]", "\n", text).replace("\x0c", "\n\n").replace("\u2029", "\n\n")


def _add_paragraph(outline: Outline, paragraph: str) -> None:
    """Lines of one paragraph: an underlined heading, list items and rows apart."""
    lines = [line.strip() for line in paragraph.split("\n")]
    if len(lines) > 1 and lines[0] and re.fullmatch(r"={3,}|-{3,}|~{3,}", lines[1]):
        outline.heading(1 if lines[1][0] == "=" else 2, lines[0])
        lines = lines[2:]
    kind, gathered = BlockKind.PARAGRAPH, list[str]()
    for line in lines:
        begins = _kind(line)
        if begins is not BlockKind.PARAGRAPH or kind is BlockKind.TABLE_ROW:
            outline.add(kind, "\n".join(gathered))
            kind, gathered = begins, []
        gathered.append(line)
    outline.add(kind, "\n".join(gathered))


def _kind(line: str) -> BlockKind:
    if bullet(line):
        return BlockKind.LIST_ITEM
    return BlockKind.TABLE_ROW if row(line) else BlockKind.PARAGRAPH
