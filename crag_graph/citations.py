"""From kept strips to citations: numbered by document, and quoted from what was really used."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from crag_graph.domain import Citation, Strip
from crag_graph.marks import Marks, bracketed, without_marks
from crag_graph.sentences import sentences

_WORD = re.compile(r"[^\W_]+")
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STEM = 6
_SUPPORTED = 0.5
"""Share of a sentence's terms that a strip must hold to count as its support."""
_ASKED = 0.2
"""Weight of the question beside the claim when a quote is chosen."""


def numbered(strips: Sequence[Strip]) -> dict[int, tuple[Strip, ...]]:
    """The strips by document, each document under its number for the brief, in the order of their first strips.

    Numbers that stand in brackets in the strips themselves are left out: a source's own `[2]`, copied into
    the answer, must not become a citation of another source.
    """
    documents: dict[tuple[str, str], list[Strip]] = {}
    for strip in strips:
        documents.setdefault((strip.passage.kind, strip.passage.document), []).append(strip)
    taken = {number for strip in strips for number in bracketed(strip.text)}
    free = (number for number in count(1) if number not in taken)
    return {next(free): tuple(of_one) for of_one in documents.values()}


def cite(marks: Marks, sources: Mapping[int, Sequence[Strip]], *, question: str = "") -> tuple[Citation, ...]:
    """One citation for each number shown, in that order.

    Its quote is the sentence of its strips that supports best what the mark stands behind. Where several
    support it alike, as when the answer repeats them, the one that has most of the question is quoted.
    """
    claims: dict[int, list[set[str]]] = {}
    for number, claim in _claims(marks):
        claims.setdefault(number, []).append(_terms(claim))
    asked = _terms(question)
    return tuple(
        _citation(shown, sources[number], claims.get(number, [set()]), asked) for number, shown in marks.cited.items()
    )


def supporting(text: str, sources: Mapping[int, Sequence[Strip]]) -> tuple[int, ...]:
    """The sources that hold what the sentences of an answer say, for a draft that cites nothing.

    A model that forgot its marks still wrote from the strips: a sentence counts as supported by the source
    that shares most of its terms with it, if that is at least half of them. No source is named for a
    sentence that none supports, so an answer out of the model's own memory stays without a citation.
    """
    terms = {number: [_terms(strip.text) for strip in strips] for number, strips in sources.items()}
    found: dict[int, None] = {}
    for start, end in sentences(text):
        if claim := _terms(text[start:end]):
            shares = {number: max(len(claim & strip) for strip in strips) for number, strips in terms.items()}
            best = max(shares, key=lambda number: shares[number], default=0)
            if best and shares[best] >= max(2, _SUPPORTED * len(claim)):
                found.setdefault(best)
    return tuple(found)


def _claims(marks: Marks) -> Iterator[tuple[int, str]]:
    """Numbers in the brief, and the sentences that their marks stand behind: those since the mark before."""
    spans = sentences(marks.text)
    first = following = end = 0
    for offset, number in marks.places:
        last = _sentence_at(marks.text, spans, offset)
        if offset != end:  # marks side by side stand for the same
            first, following = min(following, last), last + 1
        end = offset + len(f"[{marks.cited[number]}]")
        yield from ((number, claim) for claim in _backwards(marks.text, spans[first : last + 1]))


def _backwards(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Sentences from the last to the first, as far as no line ends between them."""
    after = spans[-1][1] if spans else 0
    for start, end in reversed(spans):
        if "\n" in text[end:after]:
            return
        yield without_marks(text[start:end])
        after = start


def _sentence_at(text: str, spans: Sequence[tuple[int, int]], offset: int) -> int:
    """Position of the sentence that a mark belongs to: the one it stands in, or the one before if it stands in front."""
    index = next((i for i, (start, end) in enumerate(spans) if start <= offset < end), len(spans) - 1)
    in_front = not _WORD.search(without_marks(text[spans[index][0] : offset]))
    before = index and "\n" not in text[spans[index - 1][1] : spans[index][0]]
    return index - 1 if in_front and before else index


def _citation(shown: int, strips: Sequence[Strip], claims: Sequence[set[str]], asked: set[str]) -> Citation:
    candidates = [(strip, strip.text[start:end]) for strip in strips for start, end in sentences(strip.text)]

    def support(candidate: tuple[Strip, str]) -> float:
        terms = _terms(candidate[1])
        return max(_likeness(terms, claim) for claim in claims) + _ASKED * _share(asked, terms)

    strip, quote = max(candidates or [(strips[0], strips[0].text)], key=support)
    passage = strip.passage
    return Citation(
        mark=shown,
        kind=passage.kind,
        title=passage.title,
        source=passage.source,
        location=passage.location,
        quote=quote,
        link=passage.link,
        superseded=passage.superseded,
        newer=passage.newer,
    )


def _terms(text: str) -> set[str]:
    """What two sentences have in common when they say the same: beginnings of words, pairs of characters in CJK."""
    terms: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _EAST_ASIAN.search(word):
            terms.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif len(word) > 2 or word.isdigit():  # noqa: PLR2004 (a, of, in, …)
            terms.add(word[:_STEM])
    return terms


def _share(asked: set[str], terms: set[str]) -> float:
    """Of what was asked, the share that is there."""
    return len(asked & terms) / len(asked) if asked else 0.0


def _likeness(one: set[str], other: set[str]) -> float:
    """Dice's coefficient, in [0, 1]."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0
