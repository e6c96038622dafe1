"""Results of a web search made into passages: cleaned, without doubles, and capped."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag, urlsplit

from crag_graph.domain import Kind, Passage

PAGE_CHARACTERS = 3_000
TOTAL_CHARACTERS = 10_000
"""A page may hold a whole book; what goes further is what the paragraphs nearest to the query say."""

_LONGEST_RAW = 200_000
_LONGEST_TITLE = 200
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[([^\[\]]+)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\u200b\u2060\ufeff]")
_WORD = re.compile(r"\w+")
_BLANK_LINES = re.compile(r"\n\s*\n")


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a search engine says of a page."""

    url: str
    title: str
    text: str


def objects(reply: Any) -> list[dict[str, Any]]:
    """The results in a search engine's reply, whatever else was sent."""
    results = reply.get("results") if isinstance(reply, dict) else None
    return [result for result in results if isinstance(result, dict)] if isinstance(results, list) else []


def pages(results: Iterable[Result], query: str, *, limit: int) -> tuple[Passage, ...]:
    """At most `limit` pages, in the order of the results; those without text or a web address are dropped."""
    room, seen, found = TOTAL_CHARACTERS, set[str](), list[Passage]()
    for result in results:
        url = urldefrag(result.url.strip()).url
        text = _nearest(_cleaned(result.text), query, min(PAGE_CHARACTERS, room))
        if len(found) == limit or not text:
            continue
        if url in seen or not _on_the_web(url):
            continue
        seen.add(url)
        room -= len(text)
        found.append(_passage(url, result.title, text))
    return tuple(found)


def _passage(url: str, title: str, text: str) -> Passage:
    return Passage(
        id=f"web-{hashlib.sha256(url.encode()).hexdigest()[:16]}",
        kind=Kind.WEB,
        document=url,
        source=url,
        title=" ".join(_cleaned(title).split())[:_LONGEST_TITLE] or urlsplit(url).netloc,
        text=text,
        link=url,
    )


def _on_the_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and not re.search(r"\s", url)


def _cleaned(text: str) -> str:
    """Plain text: no images, no addresses behind links, no tags, no characters that nobody sees."""
    text = _UNSEEN.sub("", text[:_LONGEST_RAW].replace("\r\n", "\n").replace("\r", "\n"))
    return _TAG.sub("", _LINK.sub(r"\1", _IMAGE.sub("", text))).strip()


def _nearest(text: str, query: str, room: int) -> str:
    """The paragraphs that share most words with the query, in their order, within `room` characters."""
    if len(text) <= room:
        return text
    words = set(_WORD.findall(query.casefold()))
    paragraphs = [piece for paragraph in _BLANK_LINES.split(text) for piece in _pieces(paragraph.strip(), room)]
    by_nearness = sorted(range(len(paragraphs)), key=lambda index: -_shared(paragraphs[index], words))
    chosen: list[int] = []
    for index in by_nearness:
        if len(paragraphs[index]) + 2 <= room:
            room -= len(paragraphs[index]) + 2
            chosen.append(index)
    return "\n\n".join(paragraphs[index] for index in sorted(chosen))


def _shared(paragraph: str, words: set[str]) -> int:
    return len(words.intersection(_WORD.findall(paragraph.casefold())))


def _pieces(paragraph: str, room: int) -> Iterator[str]:
    """A paragraph, or, of one that is longer than a third of the room, pieces cut between words."""
    size = max(1, room // 3)
    while len(paragraph) > size:
        cut = paragraph.rfind(" ", 1, size) if " " in paragraph[1:size] else size
        yield paragraph[:cut]
        paragraph = paragraph[cut:].lstrip()
    if paragraph:
        yield paragraph
