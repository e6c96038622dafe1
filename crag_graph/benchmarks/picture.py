"""The reliability curve as a picture: what share was answered at each score, before and after."""

from collections.abc import Iterable
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from crag_graph.benchmarks.quality import Bin, Quality

SIDE, EDGE = 480, 60
"""Pixels of the square that is [0, 1] by [0, 1], and of the border around it."""
PAPER, INK, FAINT = "white", "#222222", "#cccccc"
BEFORE, AFTER = "#b35806", "#2166ac"


def draw_reliability(before: Quality, after: Quality, file: Path) -> None:
    """Writes a PNG. Dots are as large as their bin is full; on the diagonal a score is a probability."""
    image = Image.new("RGB", (SIDE + 2 * EDGE, SIDE + 2 * EDGE), PAPER)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(13)
    _axes(pen, font)
    for quality, colour in ((before, BEFORE), (after, AFTER)):
        _curve(pen, [one for one in quality.reliability if one], colour)
    pen.text((EDGE + 10, EDGE + 8), "square: before", fill=BEFORE, font=font)
    pen.text((EDGE + 10, EDGE + 26), "round: after", fill=AFTER, font=font)
    image.save(file, format="PNG")


def _axes(pen: ImageDraw.ImageDraw, font: ImageFont.ImageFont | ImageFont.FreeTypeFont) -> None:
    for tenth in range(11):
        share = tenth / 10
        pen.line([_at(share, 0), _at(share, 1)], fill=FAINT)
        pen.line([_at(0, share), _at(1, share)], fill=FAINT)
        if tenth % 2 == 0:
            pen.text((_at(share, 0)[0] - 9, SIDE + EDGE + 6), f"{share:.1f}", fill=INK, font=font)
            pen.text((EDGE - 30, _at(0, share)[1] - 8), f"{share:.1f}", fill=INK, font=font)
    pen.line([_at(0, 0), _at(1, 1)], fill=INK)
    pen.text((EDGE + SIDE // 2 - 20, SIDE + EDGE + 28), "score", fill=INK, font=font)
    pen.text((EDGE - 30, EDGE - 28), "share answered", fill=INK, font=font)


def _curve(pen: ImageDraw.ImageDraw, bins: list[Bin], colour: str) -> None:
    pen.line([_at(one.score, one.answered) for one in bins], fill=colour, width=2)
    for one, size in zip(bins, _sizes(bins), strict=True):
        x, y = _at(one.score, one.answered)
        box = (x - size, y - size, x + size, y + size)
        if colour == BEFORE:
            pen.rectangle(box, fill=colour)
        else:
            pen.ellipse(box, fill=colour)


def _sizes(bins: Iterable[Bin]) -> list[float]:
    counts = [one.count for one in bins]
    return [3 + 7 * (count / max(counts)) ** 0.5 for count in counts]


def _at(x: float, y: float) -> tuple[float, float]:
    return EDGE + x * SIDE, EDGE + (1 - y) * SIDE
