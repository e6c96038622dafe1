"""What is prepared of a passage at ingest: its vector and its tokens, two bits a dimension."""

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crag_graph.embedding import TokenEmbedder, TokenVectors, Vectors

VERSION = "minilm-tokens-2bit-1"
_MAGIC = b"cp1\0"
_HEADER = struct.Struct("<4sHH")
_SIGMA = 1 / 384**0.5
"""Spread of the numbers of a unit vector with 384 dimensions."""
_BOUNDS = np.array([-0.98, 0.0, 0.98], np.float32) * np.float32(_SIGMA)
_LEVELS = np.array([-1.51, -0.453, 0.453, 1.51], np.float32) * np.float32(_SIGMA)
"""Bounds and levels of the best quantiser of a normal distribution at two bits (Max, 1960)."""
_BYTES = np.array([[byte >> shift & 3 for shift in (0, 2, 4, 6)] for byte in range(256)], np.uint8)
_UNPACKED: Vectors = _LEVELS[_BYTES]
"""The four numbers that a byte holds."""
SEGMENT = 1_200
"""Characters read in one pass; the model's window holds about 1,500."""
MOST_SEGMENTS = 12
_BREAK = re.compile(r"\n\s*|(?<=[.!?])\s+|\s+")


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A passage as the evaluator sees it.

    `pooled`: shape (d,), unit. `tokens`: shape (n, d), unit rows, punctuation left out.
    `ids`: vocabulary ids. `starts`: character offsets into the passage's text, -1 in its headings.
    """

    pooled: Vectors
    tokens: Vectors
    ids: NDArray[np.int32]
    starts: NDArray[np.int32]


class Preparer:
    """Implements embedding.Featurizer; one forward pass a passage, more for a text that is longer than a window."""

    version = VERSION

    def __init__(self, embedder: TokenEmbedder) -> None:
        self._embedder = embedder

    async def featurize(self, titles: Sequence[str], locations: Sequence[str], texts: Sequence[str]) -> list[bytes]:
        return [pack(prepared) for prepared in await self.prepare(titles, locations, texts)]

    async def prepare(self, titles: Sequence[str], locations: Sequence[str], texts: Sequence[str]) -> list[Prepared]:
        headings = [heading(title, place) for title, place in zip(titles, locations, strict=True)]
        segments = [_segments(text) for text in texts]
        read = iter(
            await self._embedder.embed_tokens(
                [
                    above + text[start:end]
                    for above, text, spans in zip(headings, texts, segments, strict=True)
                    for start, end in spans
                ]
            )
        )
        return [
            _joined([_telling(next(read), above, start, text) for start, _ in spans])
            for above, text, spans in zip(headings, texts, segments, strict=True)
        ]


def heading(title: str, location: str) -> str:
    """What stands above a passage's text when it is read."""
    return " › ".join(filter(None, (title, location)))[:200] + "\n" if title or location else ""


def pack(prepared: Prepared) -> bytes:
    """About 100 bytes a token: 15 to 20 kB for a passage of 900 characters."""
    count = min(len(prepared.ids), 0xFFFF)
    levels = np.digitize(prepared.tokens[:count], _BOUNDS).astype(np.uint8).reshape(count, len(prepared.pooled) // 4, 4)
    packed = levels[..., 0] | levels[..., 1] << 2 | levels[..., 2] << 4 | levels[..., 3] << 6
    return b"".join(
        (
            _HEADER.pack(_MAGIC, count, len(prepared.pooled)),
            prepared.pooled.astype("<f2").tobytes(),
            prepared.ids[:count].astype("<u2").tobytes(),
            prepared.starts[:count].astype("<i4").tobytes(),
            packed.astype(np.uint8).tobytes(),
        )
    )


def unpack(blob: bytes | None) -> Prepared | None:
    """None where the blob is of another version or damaged: the passage is then read again."""
    if blob is None or len(blob) < _HEADER.size:
        return None
    magic, count, width = _HEADER.unpack_from(blob)
    place = _HEADER.size
    if magic != _MAGIC or width % 4 or len(blob) != place + 2 * width + 6 * count + count * width // 4:
        return None
    pooled = np.frombuffer(blob, "<f2", width, place).astype(np.float32)
    ids = np.frombuffer(blob, "<u2", count, place + 2 * width).astype(np.int32)
    starts = np.frombuffer(blob, "<i4", count, place + 2 * width + 2 * count)
    packed = np.frombuffer(blob, np.uint8, count * width // 4, place + 2 * width + 6 * count)
    tokens = _UNPACKED[packed].reshape(count, width)
    return Prepared(pooled=pooled, tokens=_unit(tokens), ids=ids, starts=starts.astype(np.int32))


def _telling(read: TokenVectors, above: str, start: int, text: str) -> Prepared:
    """The tokens but for punctuation, at their places in the text."""
    whole = above + text[start : start + SEGMENT]
    kept = [number for number, (first, last) in enumerate(read.offsets) if any(map(str.isalnum, whole[first:last]))]
    starts = [read.offsets[number][0] - len(above) for number in kept]
    return Prepared(
        pooled=read.pooled,
        tokens=read.tokens[kept],
        ids=np.array([read.ids[number] for number in kept], np.int32),
        starts=np.array([start + place if place >= 0 else -1 for place in starts], np.int32),
    )


def _joined(segments: Sequence[Prepared]) -> Prepared:
    if len(segments) == 1:
        return segments[0]
    return Prepared(
        pooled=_unit(np.mean([segment.pooled for segment in segments], axis=0)),
        tokens=np.concatenate([segment.tokens for segment in segments]),
        ids=np.concatenate([segment.ids for segment in segments]),
        starts=np.concatenate([segment.starts for segment in segments]),
    )


def _segments(text: str) -> list[tuple[int, int]]:
    """Spans that fit into a window, cut at lines, sentences or words; at least one, also of an empty text."""
    spans: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > SEGMENT and len(spans) < MOST_SEGMENTS - 1:
        breaks = [match.end() for match in _BREAK.finditer(text, start + SEGMENT // 2, start + SEGMENT)]
        end = breaks[-1] if breaks else start + SEGMENT
        spans.append((start, end))
        start = end
    return [*spans, (start, min(len(text), start + SEGMENT))]


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit: Vectors = (rows / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit
