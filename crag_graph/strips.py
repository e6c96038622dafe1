"""A passage taken apart into strips, and the kept strips put together again."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from crag_graph.domain import Passage, Strip
from crag_graph.sentences import Span, bullet, row, sentences

_WORDS = 60
"""A strip of three sentences has at most this many words, and so has a piece of an endless sentence."""
_WORDS_OF_TWO = 80
"""Two long sentences still stand together: the second may need the subject of the first."""
_CLAUSE = 20
"""An endless sentence is cut at a comma, colon or bracket when one is among the last words that fit."""

_EAST_ASIAN = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_EAST_ASIAN}]{{1,2}}|[^\s{_EAST_ASIAN}]{{1,15}}")
"""What counts as a word: two East Asian characters, or up to fifteen others without a space."""
_BLANK_LINE = re.compile(r"[\n\r\x0b\x0c\x85\u2028\u2029]\s*?[\n\r\x0b\x85\u2028]|[\x0c\u2029]")
_RULE = re.compile(r"\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$")
_PAGE_ONLY = re.compile(r"page \d+$")


class _Kind(Enum):
    PROSE = auto()
    ITEM = auto()
    ROW = auto()


@dataclass
class _Block:
    """A paragraph, list item or table row: the spans of its sentences, and what leads in to it."""

    kind: _Kind
    spans: list[Span]
    lead: str = ""


def decompose(passage: Passage) -> tuple[Strip, ...]:
    """The strips of a passage in source order; every sentence is in one or more of them.

    Prose gives sliding windows of two or three sentences that share one; a list item or a table row is a
    strip of its own. Only the passage's location and text decide, so the result is the same at ingest
    and at question time.
    """
    location = "" if _PAGE_ONLY.match(passage.location) else passage.location
    return tuple(
        Strip(passage=passage, start=start, end=end, context="\n".join(filter(None, (location, block.lead))))
        for block in _joined(_blocks(passage.text))
        for start, end in _windows(passage.text, block)
    )


def recombine(strips: Sequence[Strip]) -> tuple[Strip, ...]:
    """The strips in source order, those that overlap or touch made into one; no sentence comes twice.

    Passages stay in the order in which they first appear. What a later passage of the same document
    repeats from an earlier one (the overlap of the two) is left out of the later.
    """
    seen: set[tuple[str, str, str]] = set()
    recombined: list[Strip] = []
    for passage_strips in _by_passage(strips):
        fresh = [trimmed for strip in _merged(passage_strips) if (trimmed := _without(strip, seen))]
        for strip in passage_strips:
            seen.update(_sentence_keys(strip))
        recombined += fresh
    return tuple(recombined)


def excerpt(strips: Sequence[Strip]) -> str:
    """The strips as one text, recombined, with an ellipsis where something was left out."""
    return " … ".join(strip.text for strip in recombine(strips))


def _blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    previous_end = 0
    for span in sentences(text):
        sentence = text[slice(*span)]
        kind = _Kind.ITEM if bullet(sentence) else _Kind.ROW if row(sentence) else _Kind.PROSE
        new_paragraph = bool(_BLANK_LINE.search(text[previous_end : span[0]])) or not blocks
        previous_end = span[1]
        if _RULE.match(sentence) and blocks and blocks[-1].kind is _Kind.ROW:
            blocks[-1].spans.append(span)
        elif new_paragraph or kind is not _Kind.PROSE or blocks[-1].kind is _Kind.ROW:
            blocks.append(_Block(kind, [*_pieces(text, span)], _lead(text, kind, blocks)))
        else:
            blocks[-1].spans += _pieces(text, span)
    return blocks


def _lead(text: str, kind: _Kind, before: Sequence[_Block]) -> str:
    """The sentence with a colon above a list, or the header above the rows of a table with pipes."""
    if kind is _Kind.PROSE or not before:
        return ""
    if before[-1].kind is kind and (before[-1].lead or kind is _Kind.ITEM):
        return before[-1].lead
    first, last = text[slice(*before[-1].spans[0])], text[slice(*before[-1].spans[-1])]
    if kind is _Kind.ROW:
        return first if _RULE.match(last) else ""
    return last if last.endswith((":", "：")) else ""


def _joined(blocks: Sequence[_Block]) -> Iterator[_Block]:
    """A paragraph of one sentence (a question, a title) belongs to the paragraph that follows it."""
    alone: list[Span] = []
    for position, block in enumerate(blocks):
        prose_follows = position + 1 < len(blocks) and blocks[position + 1].kind is _Kind.PROSE
        spans = alone + block.spans
        if block.kind is _Kind.PROSE and len(block.spans) == 1 and prose_follows:
            alone = spans
            continue
        alone = []
        yield _Block(block.kind, spans, block.lead)


def _windows(text: str, block: _Block) -> Iterator[Span]:
    """Spans of two or three sentences that share one with the next; a row is never taken apart."""
    spans = block.spans
    if block.kind is _Kind.ROW and _RULE.match(text[slice(*spans[-1])]):
        yield spans[0][0], spans[-1][1]
        return
    first = 0
    while True:
        last = _last_that_fits(text, spans, first)
        yield spans[first][0], spans[last][1]
        if last + 1 == len(spans):
            return
        first = max(last, first + 1)


def _last_that_fits(text: str, spans: Sequence[Span], first: int) -> int:
    """Position of the last of the three, two or one sentences that make the window from `first` on."""
    for last, words in ((first + 2, _WORDS), (first + 1, _WORDS_OF_TWO)):
        if last < len(spans) and len(_WORD.findall(text, spans[first][0], spans[last][1])) <= words:
            return last
    return first


def _pieces(text: str, span: Span) -> Iterator[Span]:
    """The sentence itself, or pieces of it where it has no end."""
    start, end = span
    words = list(_WORD.finditer(text, start, end))
    while len(words) > _WORDS:
        count = _clause(words)
        yield words[0].start(), words[count - 1].end()
        words = words[count:]
    yield words[0].start(), end


def _clause(words: Sequence[re.Match[str]]) -> int:
    """How many words make a piece: up to the end of a clause, if one ends near enough."""
    ends = (n for n in range(_WORDS, _WORDS - _CLAUSE, -1) if words[n - 1][0].endswith((",", ";", ":", ")")))
    return next(ends, _WORDS)


def _by_passage(strips: Sequence[Strip]) -> list[list[Strip]]:
    groups: dict[str, list[Strip]] = {}
    for strip in strips:
        groups.setdefault(strip.passage.id, []).append(strip)
    return [sorted(group, key=lambda strip: (strip.start, strip.end)) for group in groups.values()]


def _merged(strips: Sequence[Strip]) -> list[Strip]:
    """Strips of one passage, sorted; overlapping and touching ones become one."""
    merged: list[Strip] = []
    for strip in strips:
        last = merged[-1] if merged else None
        if last and not strip.passage.text[last.end : strip.start].strip():
            merged[-1] = Strip(
                passage=last.passage, start=last.start, end=max(last.end, strip.end), context=last.context
            )
        else:
            merged.append(strip)
    return merged


def _sentence_keys(strip: Strip) -> list[tuple[str, str, str]]:
    """Sentences by document and context: the same words under another heading are another statement."""
    text = strip.text
    return [(strip.passage.document, strip.context, text[start:end]) for start, end in sentences(text)]


def _without(strip: Strip, seen: set[tuple[str, str, str]]) -> Strip | None:
    """The strip without the sentences at its two ends that were seen before; None where nothing is left."""
    spans = [span for span, key in zip(sentences(strip.text), _sentence_keys(strip), strict=True) if key not in seen]
    if not spans:
        return None
    start, end = strip.start + spans[0][0], strip.start + spans[-1][1]
    return Strip(passage=strip.passage, start=start, end=end, context=strip.context)
