"""`crag library`: the documents that answers are made from."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.cli.errors import UseError
from bot.cli.ingest import bar, follower, report
from bot.cli.printing import line, near
from bot.settings import Settings
from bot.wiring import Product, open_library, open_product
from crag_graph.knowledge.documents import StoredDocument
from crag_graph.knowledge.ingest import Ingested, Outcome, Report
from crag_graph.knowledge.library import Library
from crag_graph.knowledge.sources import is_address

SENT = "It was sent, not read from a place: send it again."
SUPERSEDED, NEWER = "superseded", "has a newer version"
NUMBERS = 18
"""Digits of the largest number that can be a document's."""


async def list_documents(settings: Settings, *, space: str | None, as_json: bool) -> int:
    async with open_library(settings) as library:
        documents = await library.documents([space] if space else None)
    if as_json:
        print(line([asdict(document) for document in documents]))
        return 0
    table = Table(box=None, pad_edge=False)
    for column in ("no.", "title", "passages", "space", "state", "source"):
        table.add_column(column, overflow="fold", justify="right" if column in {"no.", "passages"} else "left")
    for document in documents:
        state = _state(document, documents)
        cells = (str(document.id), document.title, str(document.passages), document.space, state, near(document.source))
        table.add_row(*map(Text, cells))
    Console(highlight=False).print(table if documents else "The library is empty: crag ingest FOLDER")
    return 0


def _state(document: StoredDocument, documents: Sequence[StoredDocument]) -> str:
    if document.superseded:
        return SUPERSEDED
    newer = any(
        other.space == document.space and other.family == document.family and other.edition > document.edition
        for other in documents
        if other.family and other.passages
    )
    return NEWER if newer else document.state


async def show_document(settings: Settings, name: str, *, as_json: bool) -> int:
    async with open_library(settings) as library:
        document = await _named(library, name)
        passages = await library.passages(document.id)
    if as_json:
        shown = [{"id": one.id, "location": one.location, "text": one.text} for one in passages]
        print(line({**asdict(document), "passages": shown}))
        return 0
    console = Console(highlight=False)
    for field, value in asdict(document).items():
        if value not in {"", None}:
            console.print(Text.assemble((f"{field:<12}", "bold"), str(value)))
    for passage in passages:
        console.print(Text(f"\n{passage.location or passage.title}", style="bold"))
        console.print(Text(passage.text))
    return 0


async def remove_document(settings: Settings, name: str) -> int:
    async with open_library(settings) as library:
        document = await _named(library, name)
        await library.remove(document.id)
    print(f"Removed {document.title} ({document.passages} passages).")
    return 0


async def refresh(settings: Settings, name: str | None, *, every: bool) -> int:
    """Reads documents again from where they came; with `every`, what another model embedded is embedded again."""
    if (name is None) != every:
        raise UseError("Name one document, or give --all.")
    async with open_product(settings, new_model=every) as product:
        documents = await product.library.documents() if name is None else (await _named(product.library, name),)
        with bar(Console(stderr=True)) as shown:
            if every:
                stale = shown.add_task("Embedding again", total=(await product.library.counts()).stale)
                await product.ingest.embed_stale(lambda done: shown.update(stale, completed=done))
            follow = follower(shown)
            results = [result for document in documents async for result in _again(product, document, follow)]
    report(Console(highlight=False), results)
    return int(any(result.outcome is Outcome.FAILED for result in results))


async def _again(product: Product, document: StoredDocument, progress: Report) -> AsyncIterator[Ingested]:
    """What was sent to us cannot be read again: behind its address is a page that asks for a password."""
    if not await asyncio.to_thread(_readable, document.source):
        yield Ingested(source=document.source, outcome=Outcome.SKIPPED, document=document, reason=SENT)
        return
    async for result in product.ingest.ingest(
        document.source, space=document.space, added_by=document.added_by, progress=progress
    ):
        yield result


def _readable(source: str) -> bool:
    if is_address(source):
        return not (urlsplit(source).hostname or "").endswith("slack.com")
    return Path(source).is_absolute()


async def _named(library: Library, name: str) -> StoredDocument:
    """The one document with this number or source."""
    if name.isdecimal() and len(name) <= NUMBERS:
        found = await library.document(int(name))
        if found:
            return found
    named = [document for document in await library.documents() if document.source == name]
    if len(named) != 1:
        problem = "Several spaces have it: give its number." if named else "`crag library list` shows which there are."
        raise UseError(f"There is no one document {name!r}. {problem}")
    return named[0]
