"""Where documents come from: files, folders, web addresses and uploads."""

import asyncio
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crag_graph.knowledge.errors import MissingError, NoDocumentError, TooLargeError
from crag_graph.knowledge.fetch import Fetcher
from crag_graph.knowledge.loaders.load import supported
from crag_graph.phrases import Phrase, amount

_SCHEME = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Address:
    """A document on the web."""

    url: str

    @property
    def name(self) -> str:
        return self.url


@dataclass(frozen=True, kw_only=True)
class File:
    """A file of this machine. `listed`: it was found in a folder, nobody named it."""

    path: Path
    listed: bool = False

    @property
    def name(self) -> str:
        return str(self.path)


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file that somebody sent. `source` is its identity (a permalink): the same one again replaces."""

    filename: str
    data: bytes
    source: str
    link: str | None = None
    title: str = ""
    """What it is called; empty: as the document itself says."""

    @property
    def name(self) -> str:
        return self.source


Source = Address | File | Upload


@dataclass(frozen=True, kw_only=True)
class Received:
    """The bytes of a document; `filename` is a name, path or address whose ending tells the format."""

    filename: str
    data: bytes
    content_type: str = ""


def is_address(source: str) -> bool:
    """It is of the form `scheme://…`; whether the scheme may be fetched, the fetcher decides."""
    return _SCHEME.match(source) is not None


async def sources_of(source: str | Path | Upload) -> list[Source]:
    """One source, or the files of a folder: sorted, hidden ones left out, links to folders not followed.

    Raises MissingError or NoDocumentError.
    """
    if isinstance(source, Upload):
        return [source]
    if isinstance(source, str) and is_address(source):
        return [_address(source)]
    return await asyncio.to_thread(_files, source)


async def receive(source: Source, fetcher: Fetcher, *, size: int) -> Received:
    """The document's bytes, at most `size` of them. Raises a DocumentError."""
    match source:
        case Upload():
            return Received(filename=source.filename, data=source.data)
        case Address():
            fetched = await fetcher.fetch(source.url)
            return Received(filename=fetched.final_url, data=fetched.data, content_type=fetched.content_type)
        case File():
            return Received(filename=source.name, data=await asyncio.to_thread(_read, source.path, size))


def _address(url: str) -> Address:
    """Without its fragment: that names a place in the document, not another document."""
    return Address(url=url.strip().partition("#")[0])


def _files(source: str | Path) -> list[Source]:
    if not str(source).strip():
        raise MissingError
    try:
        path = Path(source).resolve()
    except (OSError, ValueError) as error:
        raise MissingError from error
    if not path.is_dir():
        return [File(path=path)]
    files = list(_walk(path))
    if not any(supported(file.name) for file in files):
        raise NoDocumentError
    return [File(path=file, listed=True) for file in files]


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and (Path(parent) / name).is_file():
                yield Path(parent) / name


def _read(path: Path, size: int) -> bytes:
    """Regular files alone: a pipe or device may never end."""
    try:
        if not path.is_file():
            raise MissingError
        if path.stat().st_size > size:
            raise TooLargeError(
                Phrase("It has {bytes} bytes; {most} are allowed."),
                bytes=amount(path.stat().st_size),
                most=amount(size),
            )
        return path.read_bytes()
    except OSError as error:
        raise MissingError(f"({error.strerror})") from error
