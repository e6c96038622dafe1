"""The records that pass between loading, splitting and storing."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from crag_graph.embedding import Vectors


class BlockKind(StrEnum):
    """What a block of text is in its document."""

    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    CODE = "code"


@dataclass(frozen=True, kw_only=True)
class Block:
    """A paragraph, list item, table row (`header: cell; header: cell`) or piece of code, as loaded."""

    kind: BlockKind
    text: str
    headings: tuple[str, ...] = ()
    """Path of headings above it, outermost first."""
    page: int | None = None
    """Counted from 1, where the format has pages."""


@dataclass(frozen=True, kw_only=True)
class LoadedDocument:
    """A document as read from its format. `text` offsets of passages refer to the blocks joined by blank lines."""

    source: str
    title: str
    loader: str
    blocks: tuple[Block, ...]
    superseded: bool = False
    properties: str = ""
    """What the file says about itself beside its text: front matter, document properties."""


@dataclass(frozen=True, kw_only=True)
class NewPassage:
    """A passage ready to be stored. `start`/`end`: character span in the document's whole text."""

    ordinal: int
    text: str
    headings: tuple[str, ...]
    page: int | None
    start: int
    end: int
    embedding: Vectors
    """Shape (d,), unit length."""
    features: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class NewDocument:
    """A document ready to be stored; `digest` is the SHA-256 of its bytes, in hex."""

    space: str
    source: str
    title: str
    loader: str
    digest: str
    size: int
    """Bytes as received."""
    superseded: bool
    added_by: str
    link: str | None = None
    kept: bool = True
    """False: it is there only as long as the conversation that it came with, and belongs to no library."""
    left_out: int = 0
    """Passages at its end that were not read."""


@dataclass(frozen=True, kw_only=True)
class StoredDocument:
    """A document of the library. `state`: `ready`, or `failed` with the reason of the last ingest in `problem`."""

    id: int
    space: str
    source: str
    title: str
    loader: str
    digest: str
    size: int
    superseded: bool
    family: str
    edition: str
    """As in editions.Edition."""
    added_by: str
    added_at: datetime
    passages: int
    state: str
    problem: str
    link: str | None
    kept: bool = True
    left_out: int = 0
