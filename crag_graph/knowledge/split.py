"""A document cut into chunks that are small enough to embed and large enough to understand."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from crag_graph.knowledge.documents import Block, BlockKind, LoadedDocument
from crag_graph.sentences import Span, sentences

BLANK_LINE = "\n\n"
_CLAUSE_END = re.compile(r"[,;:)\]}>|](?=\s)|\n")


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A stretch of a document: `start` and `end` are character offsets into `whole_text(document)`."""

    ordinal: int
    text: str
    headings: tuple[str, ...]
    page: int | None
    start: int
    end: int


@dataclass(frozen=True)
class _Atom:
    """What is never cut again: a sentence, list item or table row, or a piece of one that is too long."""

    start: int
    end: int
    block: Block
    last_of_block: bool
    leads_in: bool


def whole_text(document: LoadedDocument) -> str:
    """The text that offsets refer to: all blocks, joined by blank lines."""
    return BLANK_LINE.join(block.text for block in document.blocks)


def split(document: LoadedDocument, *, size: int = 900, overlap: int = 150) -> list[Chunk]:
    """Chunks of at most `size` characters in document order; all text that is not space is in one or more.

    A chunk never crosses a heading, ends with a paragraph where one ends in its second half, and else with
    a sentence. Two chunks of one section share whole sentences of about `overlap` characters (a last sentence
    of up to twice that is still shared); nothing is shared across a heading.
    """
    text = whole_text(document)
    chunks: list[Chunk] = []
    for _, blocks in groupby(_placed(document), key=lambda placed: placed[0].headings):
        atoms = [atom for block, start in blocks for atom in _atoms(block, start, size)]
        for first, fresh, last in _packed(atoms, size, overlap):
            start, end = atoms[first].start, atoms[last].end
            block = atoms[fresh].block
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    text=text[start:end],
                    headings=block.headings,
                    page=block.page,
                    start=start,
                    end=end,
                )
            )
    return chunks


def _placed(document: LoadedDocument) -> Iterator[tuple[Block, int]]:
    """The blocks with their offsets in the whole text."""
    start = 0
    for block in document.blocks:
        yield block, start
        start += len(block.text) + len(BLANK_LINE)


def _atoms(block: Block, offset: int, size: int) -> list[_Atom]:
    spans = [piece for span in _units(block, size) for piece in _pieces(block.text, span, size)]
    return [
        _Atom(
            start=offset + start,
            end=offset + end,
            block=block,
            last_of_block=position == len(spans),
            leads_in=position == len(spans) and block.text.endswith((":", "：")),
        )
        for position, (start, end) in enumerate(spans, 1)
    ]


def _units(block: Block, size: int) -> list[Span]:
    """A list item or row as a whole if it fits; the lines of code; the sentences of prose."""
    text = block.text
    if block.kind in {BlockKind.LIST_ITEM, BlockKind.TABLE_ROW} and len(text) <= size and text.strip():
        return [(len(text) - len(text.lstrip()), len(text.rstrip()))]
    if block.kind is BlockKind.CODE:
        return [line.span() for line in re.finditer(r"\S(?:[^\n]*\S)?", text)]
    return sentences(text)


def _pieces(text: str, span: Span, size: int) -> Iterator[Span]:
    """The span itself if it fits, else pieces that end with a clause, with a word, or anywhere."""
    start, end = span
    while end - start > size:
        cut = _cut(text, start, size)
        yield start, start + len(text[start:cut].rstrip())
        start = cut + len(text[cut:end]) - len(text[cut:end].lstrip())
    if start < end:
        yield start, end


def _cut(text: str, start: int, size: int) -> int:
    """Where to end a piece that begins at `start`: at a clause or space in its second half, if there is one."""
    middle, limit = start + size // 2, start + size
    if clauses := [clause.end() for clause in _CLAUSE_END.finditer(text, middle, limit)]:
        return clauses[-1]
    space = max(text.rfind(" ", middle, limit), text.rfind("\t", middle, limit))
    return space if space > start else limit


def _packed(atoms: Sequence[_Atom], size: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    """Positions of each chunk's first atom, its first atom that is not shared, and its last atom."""
    first = fresh = 0
    while fresh < len(atoms):
        if fresh:
            # A chunk that repeated the whole of the one before would make that one useless.
            first = max(first + 1, _overlap_start(atoms, fresh, size, overlap))
        last = _last(atoms, first, fresh, size)
        yield first, fresh, last
        fresh = last + 1


def _overlap_start(atoms: Sequence[_Atom], fresh: int, size: int, overlap: int) -> int:
    """The first of the atoms before `fresh` that the chunk repeats; `fresh` itself where none fits."""
    first = fresh
    while first and atoms[fresh - 1].end - atoms[first - 1].start <= overlap:
        first -= 1
    if first == fresh > 0 and overlap and _length(atoms, fresh - 1, fresh - 1) <= 2 * overlap:
        first = fresh - 1
    while first < fresh and _length(atoms, first, fresh) > size:
        first += 1
    return first


def _last(atoms: Sequence[_Atom], first: int, fresh: int, size: int) -> int:
    """The last atom of the chunk: as many as fit, back to the end of a paragraph, never a lead-in alone."""
    most = fresh
    while most + 1 < len(atoms) and _length(atoms, first, most + 1) <= size:
        most += 1
    if most + 1 == len(atoms):
        return most
    ends = [
        position
        for position in range(fresh, most + 1)
        if atoms[position].last_of_block
        and not atoms[position].leads_in
        and _length(atoms, first, position) >= size // 2
    ]
    if ends:
        return ends[-1]
    return most - 1 if atoms[most].leads_in and most > fresh else most


def _length(atoms: Sequence[_Atom], first: int, last: int) -> int:
    return atoms[last].end - atoms[first].start
