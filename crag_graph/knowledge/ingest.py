"""Takes documents into the library, and embeds again what it holds."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path

import numpy as np

from crag_graph.embedding import Embedder, Featurizer, Vectors
from crag_graph.knowledge.documents import LoadedDocument, NewDocument, NewPassage, StoredDocument
from crag_graph.knowledge.errors import DocumentError, MissingError, NoTextError, UnsupportedError
from crag_graph.knowledge.fetch import Fetcher
from crag_graph.knowledge.library import READY, FreshVectors, Library, location
from crag_graph.knowledge.loaders.load import Limits, load, supported
from crag_graph.knowledge.loaders.outline import title_of
from crag_graph.knowledge.sources import Address, File, Source, Upload, receive, sources_of
from crag_graph.knowledge.split import Chunk, split
from crag_graph.knowledge.superseded import is_superseded

_BATCH = 16
"""Passages embedded at once; progress is told after each batch."""
_STALE_BATCH = 128


class Outcome(StrEnum):
    """What became of one source."""

    ADDED = "added"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    """A file of a folder, of a kind that is not supported."""
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """`document` as the library has it now, None where it has none; `reason` where it was skipped or failed."""

    source: str
    outcome: Outcome
    document: StoredDocument | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Step:
    """Progress: of source `number` (from 1) of `total`, `done` of `passages` passages are embedded.

    `passages` is 0 while the document is fetched and read.
    """

    source: str
    number: int
    total: int
    done: int = 0
    passages: int = 0


Report = Callable[[Step], None]


def _to_nobody(_: Step) -> None:
    """Progress that nobody watches."""


def _utc_today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True, kw_only=True)
class Ingest:
    """`size` and `overlap` of passages in characters."""

    library: Library
    embedder: Embedder
    fetcher: Fetcher
    featurizer: Featurizer | None = None
    limits: Limits = field(default_factory=Limits)
    size: int = 900
    overlap: int = 150
    today: Callable[[], date] = _utc_today

    async def ingest(
        self,
        source: str | Path | Upload,
        *,
        space: str,
        added_by: str,
        progress: Report = _to_nobody,
        kept: bool = True,
        most: int | None = None,
    ) -> AsyncIterator[Ingested]:
        """One outcome a document: of a file, all files of a folder, an http(s) address or an upload.

        `kept`: False for what is there only as long as its conversation. `most`: so many passages of a document are
        read; what comes after them is left out, and counted.

        What is wrong with a document is its outcome, is noted in the library, and leaves an older version as
        it was. Raises a ServiceError where the library or the embedding model fails. Stopped at any point, a
        document is there as a whole, the old or the new one.
        """
        try:
            sources = await sources_of(source)
        except DocumentError as error:
            yield Ingested(source=str(source), outcome=Outcome.FAILED, reason=str(error))
            return
        for number, one in enumerate(sources, 1):
            step = Step(source=one.name, number=number, total=len(sources))
            progress(step)
            if isinstance(one, File) and one.listed and not supported(one.name):
                yield Ingested(source=one.name, outcome=Outcome.SKIPPED, reason=str(UnsupportedError()))
            else:
                document = replace(_new_document(one, space, added_by), kept=kept)
                yield await self._take(one, document, step, progress, most)

    async def write(self, document: NewDocument, loaded: LoadedDocument) -> StoredDocument:
        """Stores a text that is of no file, in place of what its source had; it is what `document` says it is.

        Raises NoTextError, or a ServiceError where the library or the embedding model fails.
        """
        chunks = await asyncio.to_thread(split, loaded, size=self.size, overlap=self.overlap)
        if not chunks:
            raise NoTextError
        return await self._store(document, chunks, Step(source=document.source, number=1, total=1), _to_nobody)

    async def embed_stale(self, progress: Callable[[int], None] | None = None) -> int:
        """Embeds passages that have no vector of the present model or features of the present kind; how many.

        `progress` is told how many are done. Stopped at any point, the next call goes on from there.
        """
        version = self.featurizer.version if self.featurizer else None
        last = done = 0
        while stale := await self.library.stale(features_version=version, after=last, limit=_STALE_BATCH):
            made = await self._embed([(one.title, one.location, one.text) for one in stale])
            fresh = [
                FreshVectors(id=one.id, embedding=vector, features=features)
                for one, (vector, features) in zip(stale, made, strict=True)
            ]
            await self.library.freshen(fresh, features_version=version)
            last, done = stale[-1].id, done + len(stale)
            if progress:
                progress(done)
        return done

    async def _take(
        self, source: Source, document: NewDocument, step: Step, progress: Report, most: int | None
    ) -> Ingested:
        """One document, from its source into the library."""
        known = await self.library.find(document.space, document.source)
        try:
            received = await receive(source, self.fetcher, size=self.limits.size)
            document = replace(document, digest=hashlib.sha256(received.data).hexdigest(), size=len(received.data))
            if known and known.digest == document.digest and _is_as_wanted(known, source, most):
                return Ingested(source=source.name, outcome=Outcome.UNCHANGED, document=known)
            loaded = await load(
                received.filename, received.data, content_type=received.content_type, limits=self.limits
            )
            chunks = await asyncio.to_thread(split, loaded, size=self.size, overlap=self.overlap)
            if not chunks:
                raise NoTextError
        except DocumentError as error:
            return await self._failed(document, known, error)
        described = _described(document, loaded, self.today(), title=source.title if isinstance(source, Upload) else "")
        read = chunks[:most]
        stored = await self._store(replace(described, left_out=len(chunks) - len(read)), read, step, progress)
        outcome = Outcome.REPLACED if known and known.passages else Outcome.ADDED
        return Ingested(source=source.name, outcome=outcome, document=stored)

    async def _store(
        self, document: NewDocument, chunks: Sequence[Chunk], step: Step, progress: Report
    ) -> StoredDocument:
        passages: list[NewPassage] = []
        progress(replace(step, passages=len(chunks)))
        for start in range(0, len(chunks), _BATCH):
            batch = chunks[start : start + _BATCH]
            made = await self._embed([(document.title, _location(chunk), chunk.text) for chunk in batch])
            passages += [_new_passage(chunk, *one) for chunk, one in zip(batch, made, strict=True)]
            progress(replace(step, done=len(passages), passages=len(chunks)))
        version = self.featurizer.version if self.featurizer else None
        return await self.library.replace(document, passages, features_version=version)

    async def _failed(self, document: NewDocument, known: StoredDocument | None, error: DocumentError) -> Ingested:
        """Noted in the library, unless it is a name that was only mistyped."""
        stored = known
        if known or not isinstance(error, MissingError):
            stored = await self.library.record_failure(document, str(error))
        return Ingested(source=document.source, outcome=Outcome.FAILED, document=stored, reason=str(error))

    async def _embed(self, texts: Sequence[tuple[str, str, str]]) -> list[tuple[Vectors, bytes | None]]:
        """Vector and features by title, location and text of a passage."""
        titles, locations, bodies = zip(*texts, strict=True)
        vectors = await self.embedder.embed([_with_headings(*one) for one in texts])
        features: Sequence[bytes | None] = [None] * len(texts)
        if self.featurizer:
            features = await self.featurizer.featurize(titles, locations, bodies)
        return [(np.asarray(vector), blob) for vector, blob in zip(vectors, features, strict=True)]


def _with_headings(title: str, place: str, text: str) -> str:
    """A passage is found by what stands above it, too: `20 days` is nothing without `Adoption leave`."""
    return f"{' › '.join(filter(None, (title, place)))}\n{text}"


def _new_document(source: Source, space: str, added_by: str) -> NewDocument:
    """What is known before the document is read."""
    link = source.url if isinstance(source, Address) else source.link if isinstance(source, Upload) else None
    named = source.filename if isinstance(source, Upload) else source.name
    return NewDocument(
        space=space,
        source=source.name,
        title=title_of(named),
        loader="",
        digest="",
        size=0,
        superseded=False,
        added_by=added_by,
        link=link,
    )


def _described(document: NewDocument, loaded: LoadedDocument, today: date, *, title: str) -> NewDocument:
    superseded = loaded.superseded or is_superseded(loaded, today=today)
    return replace(document, title=title or loaded.title, loader=loaded.loader, superseded=superseded)


def _is_as_wanted(known: StoredDocument, source: Source, most: int | None) -> bool:
    """It is whole, unless that is not asked for, and has the title that it is to have."""
    called = not isinstance(source, Upload) or source.title in {"", known.title}
    return known.state == READY and called and (most is not None or not known.left_out)


def _location(chunk: Chunk) -> str:
    return location(chunk.headings, chunk.page)


def _new_passage(chunk: Chunk, embedding: Vectors, features: bytes | None) -> NewPassage:
    return NewPassage(
        ordinal=chunk.ordinal,
        text=chunk.text,
        headings=chunk.headings,
        page=chunk.page,
        start=chunk.start,
        end=chunk.end,
        embedding=embedding,
        features=features,
    )
