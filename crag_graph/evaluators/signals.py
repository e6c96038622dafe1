"""Signals between one part of a question and the strips of a passage."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crag_graph.domain import Passage, Strip
from crag_graph.embedding import TokenVectors, Vectors
from crag_graph.evaluators.parts import term
from crag_graph.evaluators.prepared import Prepared, heading
from crag_graph.evaluators.words import STOP_WORDS, language, names, stem, words

NAMES = (
    "strip_cosine",
    "passage_cosine",
    "strip_tokens",
    "rarest_least",
    "strip_coverage",
    "least_covered",
    "asked_for",
    "names_missing",
    "foreign",
    "length",
    "rarity",
    "far_uncovered",
)
RAREST = 4
NEAR = 0.5
"""Cosine from which a strip is near a part in meaning."""
ALIKE = 0.6
"""Similarity of a word's tokens from which a strip is said to name it in other words."""
ASTRAY = 0.25
"""Cosine below which a strip that names nothing of the part is about something else."""
UNKNOWN, PIECES = 0.9, 2
"""A word of more pieces than this is none that the vocabulary knows: it is at least this rare."""
_QUESTION_WORD = re.compile(r"\b(how|what|which|who|whom|whose|when|where|why)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One part of a question, read. Arrays are over its content words, or its tokens where it says so.

    `weights`: rarity in (0, 1]. `tokens`: shape (m, d). `token_weights`: shape (m,), 0 for small words.
    `pooling`: shape (m, words), averages a word's tokens. `target`: numbers of the tokens right behind the question word.
    """

    text: str
    read: TokenVectors
    words: tuple[str, ...]
    stems: tuple[str, ...]
    weights: NDArray[np.float64]
    pooling: NDArray[np.float32]
    token_weights: NDArray[np.float64]
    target: tuple[int, ...]
    foreign: bool
    term: tuple[str, ...]
    """Stems of a term that has to stand in the text, where the part asks what the term means."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A passage with its strips, ready for signals. `inside[s, t]`: strip s, or what stands above it, holds token t."""

    prepared: Prepared
    strips: tuple[Strip, ...]
    inside: NDArray[np.bool_]
    stems: tuple[frozenset[str], ...]
    texts: tuple[str, ...]
    """The stems of each strip, and of what stands above it, in their order, between blanks."""
    all_stems: frozenset[str]
    vectors: Vectors


def asked(text: str, read: TokenVectors, rarity: NDArray[np.float32], *, alone: bool = True) -> Asked:
    """`rarity`: for each vocabulary id how rare it is in general text, in [0, 1]. `alone`: the question's only part."""
    found = [(match[0], _tokens_at(read, match.span())) for match in _WORD.finditer(text)]
    found = [(word, places) for word, places in found if places]
    content = [(word, places) for word, places in found if word.lower() not in STOP_WORDS]
    weights = np.array([_weight(read, places, rarity) for _, places in content])
    token_weights = np.zeros(len(read.ids))
    pooling = np.zeros((len(read.ids), len(content)), np.float32)
    for number, (_, places) in enumerate(content):
        token_weights[list(places)] = weights[number]
        pooling[list(places), number] = 1 / len(places)
    return Asked(
        text=text,
        read=read,
        words=tuple(word for word, _ in content),
        stems=tuple(stem(word) for word, _ in content),
        weights=weights,
        pooling=pooling,
        token_weights=token_weights,
        target=_target(text, read, found),
        foreign=language(text) != "en",
        term=term(text, compared=not alone) if language(text) == "en" else (),
    )


def ground(passage: Passage, strips: Sequence[Strip], prepared: Prepared) -> Ground:
    above = heading(passage.title, passage.location)
    texts = tuple(_stemmed(f"{above} {strip.context} {strip.text}") for strip in strips)
    starts = prepared.starts
    inside = np.array([(starts < 0) | ((starts >= strip.start) & (starts < strip.end)) for strip in strips])
    inside = inside.reshape(len(strips), len(starts))
    counts = np.maximum(inside.sum(axis=1, keepdims=True), 1)
    vectors = inside.astype(np.float32) @ prepared.tokens / counts
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return Ground(
        prepared=prepared,
        strips=tuple(strips),
        inside=inside,
        stems=tuple(frozenset(text.split()) for text in texts),
        texts=texts,
        all_stems=frozenset(_stemmed(f"{above} {passage.text[:20_000]}").split()),
        vectors=(vectors / lengths).astype(np.float32),
    )


def signals(part: Asked, ground: Ground) -> NDArray[np.float64]:
    """Shape (strips, len(NAMES)): each strip against the part; what is about the passage is the same in all rows."""
    count = len(ground.strips)
    nearest = _nearest(part.read.tokens @ ground.prepared.tokens.T, ground.inside)
    total = part.token_weights.sum() + 1e-6
    rows = np.zeros((count, len(NAMES)))
    rows[:, 0] = ground.vectors @ part.read.pooled
    rows[:, 1] = ground.prepared.pooled @ part.read.pooled
    rows[:, 2] = nearest @ part.token_weights / total
    if part.words and count:
        rows[:, 3:6] = _by_word(part, ground, nearest)
    rows[:, 6] = nearest[:, list(part.target)].mean(axis=1) if part.target else 0.6
    rows[:, 7] = _names_missing(part, ground)
    rows[:, 8] = part.foreign
    rows[:, 9] = min(len(part.words), 8) / 8
    rows[:, 10] = part.weights.max(initial=0.0)
    rows[:, 11] = (1 - rows[:, 4]) * np.clip(NEAR - rows[:, 0], 0, 1)
    return rows


def lacks_term(part: Asked, ground: Ground) -> NDArray[np.bool_]:
    """Shape (strips,): the part asks what a term means, and the strip does not have the term as it stands."""
    wanted = f" {' '.join(part.term)} "
    return np.array([bool(part.term) and wanted not in text for text in ground.texts], bool)


def astray(part: Asked, ground: Ground, rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Shape (strips,): names no word of the part, in the same or in other words, and is far from it in meaning.

    `rows`: the strips' signals. A part in another language than English shares too few words to be judged by them.
    """
    far: NDArray[np.bool_] = (rows[:, 0] < ASTRAY) & (rows[:, 4] == 0) & bool(part.words) & (not part.foreign)
    if far.any():
        similar = part.read.tokens @ ground.prepared.tokens.T
        far[far] = (_nearest(similar, ground.inside[far]) @ part.pooling < ALIKE).all(axis=1)
    return far


def named(part: Asked, ground: Ground, number: int) -> list[bool]:
    """For each content word of the part: strip `number` has it, or another word for it."""
    similar = part.read.tokens @ ground.prepared.tokens[ground.inside[number]].T
    alike = similar.max(axis=1, initial=0.0) @ part.pooling >= ALIKE
    return [root in ground.stems[number] or bool(there) for root, there in zip(part.stems, alike, strict=True)]


def _by_word(part: Asked, ground: Ground, nearest: NDArray[np.float32]) -> NDArray[np.float64]:
    similar = nearest @ part.pooling
    shared = np.array([[word in stems for word in part.stems] for stems in ground.stems], float)
    rarest = np.argsort(-part.weights, kind="stable")[:RAREST]
    total = part.weights.sum() + 1e-6
    return np.stack(
        [
            similar[:, rarest].min(axis=1),
            shared @ part.weights / total,
            ((1 - np.maximum(shared, similar)) * part.weights).max(axis=1),
        ],
        axis=1,
    )


def _names_missing(part: Asked, ground: Ground) -> float:
    """The share of the part's names that the passage does not hold."""
    wanted = set(names(part.text))
    there = [root in ground.all_stems for word, root in zip(part.words, part.stems, strict=True) if word in wanted]
    return 1.0 - sum(there) / len(there) if there else 0.0


def _nearest(similar: NDArray[np.float32], inside: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Shape (strips, m): for each token of the part its best similarity among a strip's tokens."""
    strips, question = len(inside), len(similar)
    nearest = np.zeros((strips, question), np.float32)
    for number, mask in enumerate(inside):
        if mask.any():
            nearest[number] = similar[:, mask].max(axis=1)
    return nearest


def _weight(read: TokenVectors, places: Sequence[int], rarity: NDArray[np.float32]) -> float:
    rarest = max(float(rarity[read.ids[place]]) for place in places)
    return max(rarest, UNKNOWN) if len(places) > PIECES else rarest


def _tokens_at(read: TokenVectors, span: tuple[int, int]) -> tuple[int, ...]:
    return tuple(n for n, (start, end) in enumerate(read.offsets) if start >= span[0] and end <= span[1])


def _target(text: str, read: TokenVectors, found: Sequence[tuple[str, tuple[int, ...]]]) -> tuple[int, ...]:
    """The two words behind the question word say what is asked for: `how heavy`, `which brand`."""
    question = _QUESTION_WORD.search(text)
    if question is None:
        return ()
    behind = [places for _, places in found if read.offsets[places[0]][0] >= question.end()][:2]
    return tuple(place for places in behind for place in places)


@lru_cache(maxsize=8_192)
def _stemmed(text: str) -> str:
    return f" {' '.join(stem(word) for word in words(text))} "
