"""Collects the blocks of a document under their headings, whatever format they come from."""

import re
from collections.abc import Sequence
from urllib.parse import SplitResult, unquote, urlsplit

from crag_graph.knowledge.documents import Block, BlockKind, LoadedDocument
from crag_graph.phrases import Phrase

UNTITLED = Phrase("Untitled")

_UNSTORABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufeff\ufffe\uffff]")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SPACES = re.compile(r"[^\S\n]+")
_AROUND_LINE_END = re.compile(r" ?\n ?")


def clean(text: str) -> str:
    """The text without what Postgres or people cannot take: NUL, other control characters, lone surrogates.

    Line ends become line feeds. Every text passes here before offsets are computed.
    """
    return _UNSTORABLE.sub("", _LINE_END.sub("\n", text))


def one_line(text: str) -> str:
    """Runs of space and line breaks as one space each."""
    return " ".join(text.split())


class Outline:
    """Blocks in reading order, each with the path of headings above it."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._path: list[tuple[int, str]] = []
        self._seen: list[tuple[int, str]] = []
        self._bare = False
        self._page: int | None = None

    def heading(self, level: int, text: str, *, page: int | None = None) -> None:
        """`level` counts from 1 (outermost)."""
        text = one_line(clean(text))
        if not text:
            return
        if self._bare and level <= self._path[-1][0]:
            self._keep_bare_heading()
        self._path = [(above, title) for above, title in self._path if above < level]
        self._path.append((level, text))
        self._seen.append((level, text))
        self._bare, self._page = True, page

    def add(self, kind: BlockKind, text: str, *, page: int | None = None) -> None:
        """Outer space is removed, inner runs of spaces become one (not in code); empty text adds nothing."""
        text = clean(text)
        if kind is BlockKind.CODE:
            text = text.strip("\n").rstrip()
        else:
            text = _AROUND_LINE_END.sub("\n", _SPACES.sub(" ", text)).strip()
        if text:
            self._blocks.append(Block(kind=kind, text=text, headings=self._headings(), page=page))
            self._bare = False

    def add_table(self, rows: Sequence[Sequence[str]], *, header: bool | None = None, page: int | None = None) -> None:
        """`header` says whether the first row names the columns; None: decide by how it looks."""
        cells = [[one_line(clean(cell)) for cell in row] for row in rows]
        cells = [row for row in cells if any(row)]
        if not cells:
            return
        named = len(cells) > 1 and (_names_columns(cells) if header is None else header)
        for row in cells[1:] if named else cells:
            self.add(BlockKind.TABLE_ROW, _row_text(cells[0] if named else None, row), page=page)

    def first_heading(self) -> str:
        return self._seen[0][1] if self._seen else ""

    def title_heading(self) -> str:
        """The first heading where it stands above all others; nothing where it is one section of several."""
        if not self._seen or any(level <= self._seen[0][0] for level, _ in self._seen[1:]):
            return ""
        return self._seen[0][1]

    def document(self, name: str, loader: str, *, title: str = "", properties: str = "") -> LoadedDocument:
        """The document; its title is the given one, or the heading above all others, or made of its file name.

        A heading that only repeats the title is left out of the heading paths.
        """
        if self._bare:
            self._keep_bare_heading()
        title = one_line(clean(title)) or self.title_heading() or title_of(name)
        blocks = tuple(_below(title, block) for block in self._blocks)
        return LoadedDocument(source=name, title=title, loader=loader, blocks=blocks, properties=clean(properties))

    def _headings(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._path)

    def _keep_bare_heading(self) -> None:
        """A heading with nothing below it is text of its own, or it would be lost."""
        _, text = self._path.pop()
        self.add(BlockKind.PARAGRAPH, text, page=self._page)


def title_of(name: str) -> str:
    """`notes/travel-policy_2022.md` → `travel policy 2022`; of an address its last folder or its host."""
    last = re.split(r"[/\\]", path_of(name).rstrip("/\\"))[-1]
    stem = re.sub(r"\.[A-Za-z0-9]{1,5}$", "", last) or host_of(name)
    return one_line(clean(re.sub(r"[-_]+", " ", stem))) or UNTITLED()


def path_of(name: str) -> str:
    """The path of an address, without its query; any other name as it is."""
    return unquote(address.path) if (address := _address(name)) else name


def host_of(name: str) -> str:
    """The host of an address; empty for any other name."""
    return (address.hostname or "") if (address := _address(name)) else ""


def _address(name: str) -> SplitResult | None:
    try:
        return urlsplit(name) if "://" in name else None
    except ValueError:  # it looks like an address, and is none
        return None


def _below(title: str, block: Block) -> Block:
    if block.headings[:1] != (title,):
        return block
    return Block(kind=block.kind, text=block.text, headings=block.headings[1:], page=block.page)


def _names_columns(rows: Sequence[Sequence[str]]) -> bool:
    """The first row reads as the names of three or more columns. (In two, the first cell names the second.)"""
    first = rows[0]
    return (
        len(first) > 2  # noqa: PLR2004 - see the sentence above
        and all(first)
        and len(set(first)) == len(first)
        and not any(character.isdigit() for cell in first for character in cell)
    )


def _row_text(header: Sequence[str] | None, row: Sequence[str]) -> str:
    """`header: cell; header: cell`; without a header `first: second` or `first; second; third`."""
    if header is None:
        return (": " if len(row) == 2 else "; ").join(filter(None, row))  # noqa: PLR2004 - a pair
    names = [*header, *[""] * (len(row) - len(header))]
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, row, strict=False) if cell)
