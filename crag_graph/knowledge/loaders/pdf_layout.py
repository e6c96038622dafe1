"""What the lines of a page are: running titles, headings, paragraphs, list items and tables."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from crag_graph.knowledge.documents import BlockKind
from crag_graph.knowledge.loaders.outline import Outline
from crag_graph.sentences import bullet

_HYPHEN = "\x02"
"""PDFium's sign for the hyphen of a word that was cut at the end of a line."""
_HEADING_SIZE = 1.12
"""Letters of a heading are larger than those of the text by this factor."""
_SAME_SIZE = 0.96
"""Letters are of another size if they are smaller than this share of it."""
_HEADING_LENGTH = 150
_PARAGRAPH_GAP = 1.3
"""A step down that is larger than the usual one by this factor begins a paragraph."""
_SHORT_LINE = 0.8
"""A line that ends a sentence before this share of the column's width ends its paragraph."""
_TITLE_LENGTH = 100
"""Running headers and footers are shorter than this."""
_FEW_PAGES = 3
"""In fewer pages than this, nothing is taken for a running header or footer."""


@dataclass(frozen=True)
class Cell:
    """A run of text without a wide gap; positions in points from the left and the bottom of the page."""

    text: str
    left: float
    right: float


@dataclass(frozen=True)
class Line:
    cells: tuple[Cell, ...]
    base: float
    height: float
    page: int

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)

    @property
    def right(self) -> float:
        return self.cells[-1].right


def without_running_titles(lines: Sequence[Line]) -> list[Line]:
    """Leaves out what stands at the top or bottom of most pages, whatever its numbers."""
    by_page: dict[int, list[Line]] = {}
    for line in lines:
        by_page.setdefault(line.page, []).append(line)
    if len(by_page) < _FEW_PAGES:
        return list(lines)
    edges = [
        {id(line): _without_numbers(line) for line in (*page[:2], *page[-2:]) if len(line.text) <= _TITLE_LENGTH}
        for page in by_page.values()
    ]
    often = Counter(text for page in edges for text in set(page.values()))
    running = {line for page in edges for line, text in page.items() if often[text] * 2 > len(by_page)}
    return [line for line in lines if id(line) not in running]


def _without_numbers(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text)


class LayoutWriter:
    """Turns lines into headings, paragraphs, list items and tables."""

    def __init__(self, outline: Outline, lines: Sequence[Line]) -> None:
        self._outline = outline
        self._lines = lines
        letters: Counter[float] = Counter()
        for line in lines:
            letters[round(line.height, 1)] += len(line.text)
        self._height = letters.most_common(1)[0][0]
        self._levels = _levels(line.height for line in lines if self._is_heading(line))
        steps = sorted(_step(*pair) for pair in pairwise(lines))
        down = [step for step in steps if step > self._height / 2] or [self._height]
        self._step = down[len(down) // 10]
        self._width = max(line.right for line in lines)

    def write(self) -> None:
        position = 0
        while position < len(self._lines):
            end = self._table_end(position)
            if end - position > 1:
                self._outline.add_table(_rows(self._lines[position:end]), page=self._lines[position].page)
            else:
                end = self._paragraph_end(position)
                self._paragraph(self._lines[position:end])
            position = end

    def _is_heading(self, line: Line) -> bool:
        return line.height > _HEADING_SIZE * self._height and len(line.text) <= _HEADING_LENGTH

    def _paragraph(self, lines: Sequence[Line]) -> None:
        text = _joined(lines)
        if self._is_heading(lines[0]):
            self._outline.heading(self._levels[lines[0].height], text, page=lines[0].page)
        else:
            kind = BlockKind.LIST_ITEM if bullet(text) else BlockKind.PARAGRAPH
            self._outline.add(kind, text, page=lines[0].page)

    def _paragraph_end(self, start: int) -> int:
        end = start + 1
        while end < len(self._lines) and self._goes_on(self._lines[end - 1], self._lines[end], end):
            end += 1
        return end

    def _goes_on(self, line: Line, following: Line, position: int) -> bool:
        """The next line belongs to the same paragraph."""
        if bullet(following.text) or abs(following.height - line.height) > 0.1 * line.height:
            return False
        if self._table_end(position) - position > 1:
            return False
        ends = line.text.endswith((".", "!", "?", ":", ";"))
        if line.page != following.page or following.base > line.base:
            return not ends and following.text[0].islower()
        if _step(line, following) > _PARAGRAPH_GAP * self._step * line.height / self._height:
            return False
        return not (ends and line.right < _SHORT_LINE * self._width)

    def _table_end(self, start: int) -> int:
        """Past the last line of the table that begins at `start`; the lines below share its columns."""
        header = self._lines[start]
        end = start + 1
        if len(header.cells) == 1:
            return end
        while end < len(self._lines) and self._lines[end].page == header.page and _fits(header, self._lines[end]):
            end += 1
        return end


def _levels(heights: Iterable[float]) -> dict[float, int]:
    """Level by height, 1 for the largest; heights that differ little are of one level."""
    levels: dict[float, int] = {}
    level, size = 0, 0.0
    for height in sorted(heights, reverse=True):
        if height < _SAME_SIZE * size or not level:
            level, size = level + 1, height
        levels[height] = level
    return levels


def _step(before: Line, after: Line) -> float:
    return before.base - after.base


def _joined(lines: Sequence[Line]) -> str:
    """One text; a word that was cut at the end of a line is whole again."""
    text = ""
    for line in lines:
        text = text.removesuffix(_HYPHEN) + ("" if text.endswith(_HYPHEN) else " ") + line.text
    return text.replace(_HYPHEN, "-").strip()


def _fits(header: Line, line: Line) -> bool:
    """The line is a row below the header, or goes on in a cell beside the first."""
    if line.base >= header.base:
        return False
    columns = [_column(header, cell) for cell in line.cells]
    if None in columns or len(set(columns)) < len(columns):
        return False
    return len(columns) > 1 or columns != [0]


def _column(header: Line, cell: Cell) -> int | None:
    """The one column that the cell lies in; None where it reaches over two."""
    starts = [column.left for column in header.cells[1:]]
    ends = [column.right for column in header.cells[:-1]]
    first = sum(cell.left > end for end in ends)
    last = sum(cell.right > start for start in starts)
    return first if first >= last else None


def _rows(lines: Sequence[Line]) -> list[list[str]]:
    """Cells by column; a line that leaves the first column empty goes on with the row above."""
    header = lines[0]
    rows: list[list[str]] = []
    for line in lines:
        cells = [""] * len(header.cells)
        for cell in line.cells:
            cells[_column(header, cell) or 0] = cell.text
        if rows and not cells[0]:
            rows[-1] = [f"{above} {below}".strip() for above, below in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows
