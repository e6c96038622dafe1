"""An answer made of what the sources say word for word: the few strips that answer each part of the question best."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import snowballstemmer

from crag_graph.domain import JudgedStrip, Score, Strip, Verdict
from crag_graph.models.languages import guess, stop_words
from crag_graph.models.ranges import amounts, lies_within
from crag_graph.models.topics import WORD
from crag_graph.sentences import bullet, row, sentences
from crag_graph.services import Brief
from crag_graph.strips import decompose, recombine
from crag_graph.times import Times, times_asked_for, years_in

_ANSWERS, _ANSWERS_A_PART = 0.7, 0.4
"""Score that the best strip of some part must reach, or nothing is quoted; and that of each part that is answered.

Between .6 and .7 the first spares 17 wrong answers for 5 right ones, between .7 and .8 only 8 for 9 (370 questions).
"""
_SURE = 0.8
"""Judgement of a strip from which it answers its part whatever words it shares: it may say it in others."""
_STRIPS = 4
"""Strips quoted for each part of the question, at most; a table row is one."""
_MOST = 8
_SAME_DOCUMENT, _OTHER_DOCUMENT = 0.6, 0.95
"""A further strip is quoted if it reaches this share of the best one's score: what stands beside it reads well with it,
and another document is a source of its own only where it answers about as well.
"""
_DOCUMENTS = 2
"""Documents quoted for each part of the question, at most."""
_JUDGED = 0.7
"""What the judgement of a strip counts for against the words that it shares with the question."""
_ABOVE = 0.6
"""What a word of the question counts for where it stands above the strip: title, headings, lead-in."""
_OF_ANOTHER_TIME = 0.3
"""Share of its score that a strip keeps where it is outdated; or where an older edition is of the year that is asked for."""
_NEWER = 0.7
"""Share of an older edition's score from which a strip of the newest one takes its place."""
_BULLET = re.compile(r"^[-*+•–]\s+")
_READ = 1_000
"""Characters of a part that are read."""
_SHORT = 4
"""Letters of a word that may be taken for a slip of the pen."""


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A strip that may be quoted; `said` and `above` are the stems in it and above it."""

    strip: Strip
    worth: tuple[float, ...]
    """How far it answers each part of the question, as judged."""
    said: frozenset[str]
    above: frozenset[str]

    @property
    def document(self) -> str:
        return self.strip.passage.document


@dataclass(frozen=True, kw_only=True)
class _Chosen:
    """Places of the candidates that answer a part, best first; score and judgement of the best."""

    part: str
    places: tuple[int, ...]
    score: float
    worth: float


@dataclass(frozen=True, kw_only=True)
class Quotation:
    """The paragraphs of the answer, one a document, with their marks; and the parts that nothing answers."""

    paragraphs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def quotation(brief: Brief) -> Quotation:
    """What answers the question, current documents before superseded ones.

    No paragraph where the verdict leaves it open and no strip comes near to an answer.
    """
    parts = brief.parts or (brief.standalone,)
    candidates = _candidates(brief, len(parts))
    if not candidates:
        return Quotation()
    beside = _beside_the_amount(candidates, brief.standalone)
    candidates = [one for one, left_out in zip(candidates, beside, strict=True) if not left_out]
    times = times_asked_for(brief.standalone)
    chosen = [_best_for(number, part, candidates, times) for number, part in enumerate(parts)]
    answering = chosen if brief.verdict is Verdict.CORRECT or not brief.judged else _answering(chosen)
    places = dict.fromkeys(place for one in answering for place in one.places)
    strips = [candidates[place].strip for place in list(places)[:_MOST]]
    return Quotation(
        paragraphs=tuple(_paragraphs(strips, brief)),
        missing=tuple(one.part for one in chosen if one not in answering),
    )


def _answering(chosen: Sequence[_Chosen]) -> list[_Chosen]:
    """What answers its part; nothing where none does so well that the question counts as answered."""
    if not any(one.score >= _ANSWERS or one.worth >= _SURE for one in chosen):
        return []
    return [one for one in chosen if one.score >= _ANSWERS_A_PART]


def _paragraphs(strips: Sequence[Strip], brief: Brief) -> Iterator[str]:
    numbers = {source.strips[0].passage.document: source.number for source in brief.sources if source.strips}
    documents: dict[str, list[Strip]] = {}
    for strip in recombine(strips):
        documents.setdefault(strip.passage.document, []).append(strip)
    for document in sorted(documents, key=lambda document: documents[document][0].passage.superseded):
        yield _paragraph(documents[document], numbers[document])


def _candidates(brief: Brief, parts: int) -> list[_Candidate]:
    judged = brief.judged or [
        JudgedStrip(strip=strip, score=Score(value=0.0, reason="not judged"), kept=True)
        for source in brief.sources
        for given in source.strips
        for strip in _windows(given)
    ]
    return [
        _Candidate(
            strip=one.strip,
            worth=one.by_part if len(one.by_part) == parts else (one.score.value,) * parts,
            said=_stems(one.strip.text),
            above=_stems(f"{one.strip.passage.title} {one.strip.passage.location} {one.strip.context}"),
        )
        for one in judged
    ]


def _windows(given: Strip) -> list[Strip]:
    """The strips that were joined to the given one."""
    inside = [strip for strip in decompose(given.passage) if given.start <= strip.start and strip.end <= given.end]
    return inside or [given]


def _best_for(number: int, part: str, candidates: Sequence[_Candidate], times: Times) -> _Chosen:
    """The candidates that answer this part best; outdated ones stand back, whatever they score."""
    weights = _weights(part, candidates)
    scores = [_score(candidate, number, weights) for candidate in candidates]
    ranks = _ranks(candidates, scores, times)
    ranked = sorted(range(len(candidates)), key=lambda place: -ranks[place])
    first, documents = ranked[0], {candidates[ranked[0]].document: None}
    best: list[int] = []
    for place in ranked:
        document = candidates[place].document
        share = _SAME_DOCUMENT if document == candidates[first].document else _OTHER_DOCUMENT
        if ranks[place] >= share * ranks[first] and (document in documents or len(documents) < _DOCUMENTS):
            documents.setdefault(document)
            best.append(place)
    return _Chosen(part=part, places=tuple(best[:_STRIPS]), score=scores[first], worth=candidates[first].worth[number])


def _score(candidate: _Candidate, number: int, weights: Mapping[str, float]) -> float:
    """What was judged of the strip for this part, and the share of the part's words, by weight, in it and above it."""
    shared = sum(
        weight * (1.0 if stem in candidate.said else _ABOVE)
        for stem, weight in weights.items()
        if stem in candidate.said or stem in candidate.above
    )
    return _JUDGED * candidate.worth[number] + shared / (sum(weights.values()) or 1.0)


def _ranks(candidates: Sequence[_Candidate], scores: Sequence[float], times: Times) -> list[float]:
    """The scores, less for what is of another time than the one that is asked about."""
    by_title: dict[str, float] = {}
    for candidate, score in zip(candidates, scores, strict=True):
        title = candidate.strip.passage.title
        by_title[title] = max(by_title.get(title, 0.0), score)
    titles = {one.strip.passage.newer for one in candidates if times.years & years_in(one.strip.passage.title)}
    return [
        score * (_OF_ANOTHER_TIME if one.strip.passage.title in titles or _outdated(one, score, times, by_title) else 1)
        for one, score in zip(candidates, scores, strict=True)
    ]


def _beside_the_amount(candidates: Sequence[_Candidate], question: str) -> list[bool]:
    """Rows for other amounts than the one of the question, where the same table has the row for it."""
    asked = amounts(question)
    within = [lies_within(one.strip.text, asked) if row(one.strip.text) else None for one in candidates]
    answering = {one.document for one, inside in zip(candidates, within, strict=True) if inside}
    return [inside is False and one.document in answering for one, inside in zip(candidates, within, strict=True)]


def _outdated(candidate: _Candidate, score: float, times: Times, by_title: Mapping[str, float]) -> bool:
    """It says so, or the newest edition of its document says something about as fitting."""
    passage = candidate.strip.passage
    if times.former or times.years & candidate.above:
        return False
    return passage.superseded or (passage.newer != "" and by_title.get(passage.newer, 0.0) >= _NEWER * score)


def _weights(part: str, candidates: Sequence[_Candidate]) -> Mapping[str, float]:
    """How telling each word of the part is: the rarer among the candidates, the more (idf)."""
    known = Counter(stem for candidate in candidates for stem in candidate.said | candidate.above)
    stems = {_spelled_like(stem, known) for stem in _stems(part[:_READ])}
    return {stem: math.log(1 + len(candidates) / (1 + known[stem])) for stem in stems}


def _spelled_like(stem: str, known: Mapping[str, int]) -> str:
    """A word that no source has is read as the one that it is a slip of the pen for."""
    if stem in known or len(stem) < _SHORT:
        return stem
    alike = get_close_matches(stem, [other for other in known if other[:1] == stem[:1]], n=1, cutoff=0.8)
    return alike[0] if alike else stem


def _paragraph(strips: Sequence[Strip], number: int) -> str:
    """Strips of one document in source order, each with the mark; items and rows stand on lines of their own."""
    lines: list[str] = []
    for strip in strips:
        shown = list(_lines(strip.text))
        if bullet(shown[0]) and (label := _label(strip)) not in lines:
            lines.append(label)
        lines += [*shown[:-1], f"{shown[-1]} [{number}]"]
    return "\n".join(lines)


def _lines(text: str) -> Iterator[str]:
    """Running text as one line, each item and row as a line of a list."""
    running: list[str] = []
    for start, end in sentences(text):
        sentence = " ".join(text[start:end].split())
        if not (bullet(sentence) or row(sentence)):
            running.append(sentence)
            continue
        if running:
            yield " ".join(running)
            running = []
        yield sentence if sentence[0].isdigit() and bullet(sentence) else f"- {_BULLET.sub('', sentence)}"
    if running:
        yield " ".join(running)


def _label(strip: Strip) -> str:
    """What an item or row stands under: the document, and the last heading or lead-in above it."""
    above = strip.context.splitlines()[-1:]
    return f"{' › '.join(dict.fromkeys([strip.passage.title, *above])).rstrip(' :')}:"


def _stems(text: str) -> frozenset[str]:
    """Stems of the words that carry a topic."""
    small = stop_words("en") | stop_words(guess(text))
    return frozenset(_stem(word.casefold()) for word in WORD.findall(text) if word.casefold() not in small)


@lru_cache(maxsize=8_192)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    return snowballstemmer.stemmer("english")
