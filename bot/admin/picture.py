"""The graph as a drawing, with the path that a run took."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTH, HEIGHT = 118, 44
COLUMN, ROW, EDGE = 150, 92, 10
PLACES = {
    "contextualize": (0, 0),
    "retrieve": (1, 0),
    "evaluate": (2, 0),
    "rewrite": (2, 1),
    "search_web": (3, 1),
    "refine": (4, 0),
    "generate": (5, 0),
    "abstain": (5, 1),
}
"""Column and row of each node."""
ARROWS = (
    ("contextualize", "retrieve", ""),
    ("retrieve", "evaluate", ""),
    ("evaluate", "refine", "correct"),
    ("evaluate", "rewrite", "ambiguous, incorrect"),
    ("rewrite", "search_web", ""),
    ("search_web", "refine", ""),
    ("refine", "generate", ""),
    ("refine", "abstain", "nothing left"),
    ("generate", "abstain", "too weak"),
)
SIZE = (6 * COLUMN - COLUMN + WIDTH + 2 * EDGE, ROW + HEIGHT + 2 * EDGE)


@dataclass(frozen=True, kw_only=True)
class Box:
    """A node. `milliseconds`: None where the run did not come by."""

    node: str
    x: int
    y: int
    milliseconds: float | None
    failed: bool


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """`path`: in SVG's language."""

    path: str
    taken: bool
    label: str
    x: int
    y: int


@dataclass(frozen=True, kw_only=True)
class Picture:
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    width: int = SIZE[0]
    height: int = SIZE[1]


def draw(timings: Sequence[tuple[str, float]], *, faulty: frozenset[str] = frozenset()) -> Picture:
    """`timings`: node and milliseconds of each step, in order; `faulty`: where something failed."""
    order = [node for node, _ in timings]
    taken = set(pairwise(order))
    spent: dict[str, float] = {}
    for node, milliseconds in timings:
        spent[node] = spent.get(node, 0.0) + milliseconds
    boxes = tuple(
        Box(node=node, x=_x(node), y=_y(node), milliseconds=spent.get(node), failed=node in faulty) for node in PLACES
    )
    return Picture(boxes=boxes, arrows=tuple(_arrow(*arrow, taken=arrow[:2] in taken) for arrow in ARROWS))


def _arrow(start: str, end: str, label: str, *, taken: bool) -> Arrow:
    below = PLACES[start][1] < PLACES[end][1] and PLACES[start][0] == PLACES[end][0]
    if below:
        x, y = _x(start) + WIDTH // 2, _y(start) + HEIGHT
        return Arrow(path=f"M{x} {y} V{_y(end) - 2}", taken=taken, label=label, x=x + 8, y=(y + _y(end)) // 2 + 4)
    x, y = _x(start) + WIDTH, _y(start) + HEIGHT // 2
    to_x, to_y = _x(end) - 2, _y(end) + HEIGHT // 2
    middle = to_x - (COLUMN - WIDTH) // 2
    return Arrow(
        path=f"M{x} {y} H{middle} V{to_y} H{to_x}" if y != to_y else f"M{x} {y} H{to_x}",
        taken=taken,
        label=label,
        x=(x + 8) if y == to_y else middle - 78,
        y=y - 6 if y == to_y else (y + to_y) // 2 + 14,
    )


def _x(node: str) -> int:
    return EDGE + PLACES[node][0] * COLUMN


def _y(node: str) -> int:
    return EDGE + PLACES[node][1] * ROW
