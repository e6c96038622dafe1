"""Trains the reader: which strip answers which question, first on public sets, then on organisations' documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from crag_graph.benchmarks.cases import Evidence, Question
from crag_graph.benchmarks.readings import Library
from crag_graph.domain import Verdict
from crag_graph.embedding import TokenVectors
from crag_graph.evaluators.parts import parts
from crag_graph.evaluators.prepared import Prepared
from crag_graph.evaluators.reader import HEADS, QUESTION_TOKENS, STRIP_TOKENS, Batch, Text, batch

WIDTH, LAYERS = 96, 2
BATCH = 64
Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A question and a strip that answers it, or not."""

    question: Text
    strip: Text
    answers: bool
    weight: float = 1.0


class Network(nn.Module):  # type: ignore[misc]  # torch is installed for training only
    """The reader as torch trains it; the names of its weights are those that the numpy reader looks up."""

    def __init__(self, *, width: int = WIDTH, layers: int = LAYERS, drop: float = 0.1) -> None:
        super().__init__()
        self.question, self.strip, self.marks = nn.Linear(384, width), nn.Linear(384, width), nn.Linear(5, width)
        self.layers = nn.ModuleList(_Layer(width, drop) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.weigh = nn.Linear(width, 1)
        self.join = nn.Linear(2 * width + 4, 64)
        self.decide = nn.Linear(64, 1)
        self.drop = nn.Dropout(drop)

    def forward(self, pairs: Batch) -> torch.Tensor:
        tensor = torch.from_numpy
        there = torch.cat([tensor(pairs.question_there), tensor(pairs.strip_there)], 1)
        hidden = self.drop(
            torch.cat(
                [
                    self.question(tensor(pairs.question)) + self.marks(tensor(pairs.question_marks)),
                    self.strip(tensor(pairs.strip)) + self.marks(tensor(pairs.strip_marks)),
                ],
                1,
            )
        )
        for layer in self.layers:
            hidden = layer(hidden, there)
        hidden = self.norm(hidden)
        length = pairs.question.shape[1]
        asking, strip = hidden[:, :length], hidden[:, length:]
        shares = self.weigh(asking)[..., 0].masked_fill(~tensor(pairs.question_there), -1e4).softmax(1)
        question = (shares[..., None] * asking).sum(1)
        found = strip.masked_fill(~tensor(pairs.strip_there)[..., None], -1e4).max(1).values
        inner = functional.gelu(self.join(torch.cat([question, found, tensor(pairs.pair)], 1)), approximate="tanh")
        logits: torch.Tensor = self.decide(self.drop(inner))[:, 0]
        return logits

    def weights(self) -> dict[str, Floats]:
        return {name: value.detach().numpy().astype(np.float32) for name, value in self.state_dict().items()}


class _Layer(nn.Module):  # type: ignore[misc]  # as above
    def __init__(self, width: int, drop: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.drop = nn.Dropout(drop)

    def forward(self, hidden: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
        count, length, width = hidden.shape
        mixed = self.mix(self.norm1(hidden)).view(count, length, 3, HEADS, width // HEADS)
        query, key, value = mixed.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=there[:, None, None, :])
        hidden = hidden + self.drop(self.out(attended.transpose(1, 2).reshape(count, length, width)))
        inner = functional.gelu(self.up(self.norm2(hidden)), approximate="tanh")
        result: torch.Tensor = hidden + self.drop(self.down(inner))
        return result


def fit(network: Network, pairs: Sequence[Pair], rarity: Floats, *, epochs: int, rate: float, seed: int) -> Network:
    """AdamW with one warm-up and linear decay; the same seed and thread count give the same weights."""
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=0.05)
    groups = _groups(pairs)
    batches = [batch([(pairs[n].question, pairs[n].strip) for n in group], rarity) for group in groups]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=len(groups) * epochs + 1, pct_start=0.1)
    network.train()
    for _ in range(epochs):
        for number in generator.permutation(len(groups)):
            wanted = torch.tensor([0.98 if pairs[n].answers else 0.02 for n in groups[number]])
            weight = torch.tensor([pairs[n].weight for n in groups[number]])
            losses = functional.binary_cross_entropy_with_logits(network(batches[number]), wanted, reduction="none")
            optimiser.zero_grad()
            ((losses * weight).sum() / weight.sum()).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    network.eval()
    return network


def public_pairs(library: Library, generator: np.random.Generator) -> Iterator[Pair]:
    """The strips with the answer; against them other strips of the passage and the nearest strips elsewhere."""
    for question in library.collection.questions:
        held = {(e.passage, n) for e in question.evidence for n in _touching(library, e)}
        if not held and question.verdict is Verdict.CORRECT:
            continue
        own = question.evidence[0].passage if question.evidence else question.raw
        siblings = [(own, n) for n in range(len(library.strips[own])) if (own, n) not in held]
        nearest = _nearest_strips(library, question.text, library.search(question.text, without=(own,)), 4)
        chosen = [siblings[n] for n in generator.permutation(len(siblings))[:4]]
        yield from _pairs(library, question.text, sorted(held)[:2], [*chosen, *nearest])


def enterprise_pairs(library: Library, *, most: int = 6) -> Iterator[Pair]:
    """Part by part: the strips with a gold quote, against the nearest strips without one."""
    for question in library.collection.questions:
        found = library.search(question.text)
        held_by_quote = _held_by_quote(library, question)
        every = {strip for strips in held_by_quote.values() for strip in strips}
        for part, quotes in answered_parts(library, question):
            held = {strip for quote in quotes for strip in held_by_quote[quote]}
            nearest = [
                strip for strip in _nearest_strips(library, part, found, most + len(every)) if strip not in every
            ]
            yield from _pairs(library, part, sorted(held)[:4], nearest[:most])


def answered_parts(library: Library, question: Question) -> Iterator[tuple[str, list[int]]]:
    """Each part with the numbers of the quotes that answer it: a quote goes to the part that is nearest to it."""
    texts = parts(question.text)
    quotes = _held_by_quote(library, question)
    nearness = {
        quote: [max(_cosine(library, text, strip) for strip in strips) for text in texts]
        for quote, strips in quotes.items()
    }
    owners: dict[int, int] = {}
    for quote, near in nearness.items():
        owners[quote] = int(np.argmax(near))
    if question.verdict is Verdict.CORRECT:
        for number in range(len(texts)):
            if number not in owners.values() and nearness:
                best = max(nearness, key=lambda quote, number=number: nearness[quote][number])  # type: ignore[misc]
                yield texts[number], [best]
    for number, text in enumerate(texts):
        mine = [quote for quote, owner in owners.items() if owner == number]
        if mine or question.verdict is not Verdict.CORRECT:
            yield text, mine


def reading(library: Library, text: str) -> Text:
    """A question, or part of one, as the reader takes it."""
    return question_text(library.read[text])


def question_text(read: TokenVectors) -> Text:
    ids = np.array(read.ids[:QUESTION_TOKENS], np.int32)
    return Text(tokens=read.tokens[:QUESTION_TOKENS], ids=ids, above=np.zeros(len(ids), np.bool_))


def strip_text(prepared: Prepared, inside: NDArray[np.bool_]) -> Text:
    places = np.flatnonzero(inside)[:STRIP_TOKENS]
    return Text(tokens=prepared.tokens[places], ids=prepared.ids[places], above=prepared.starts[places] < 0)


def _pairs(
    library: Library, text: str, held: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> Iterator[Pair]:
    question = reading(library, text)
    for answers, strips in ((True, held), (False, others)):
        for passage, number in strips:
            inside = library.grounds[passage].inside[number]
            yield Pair(question=question, strip=strip_text(library.prepared[passage], inside), answers=answers)


def _held_by_quote(library: Library, question: Question) -> dict[int, list[tuple[int, int]]]:
    held: dict[int, list[tuple[int, int]]] = {}
    for evidence in question.evidence:
        held.setdefault(evidence.quote, []).extend((evidence.passage, n) for n in _touching(library, evidence))
    return held


def _touching(library: Library, evidence: Evidence) -> list[int]:
    """Numbers of the strips that hold the evidence, or its beginning where none holds it whole."""
    strips = library.strips[evidence.passage]
    whole = [n for n, strip in enumerate(strips) if strip.start <= evidence.start and evidence.end <= strip.end]
    return whole or [n for n, strip in enumerate(strips) if strip.start <= evidence.start < strip.end]


def _nearest_strips(library: Library, text: str, passages: Sequence[int], most: int) -> list[tuple[int, int]]:
    strips = [(passage, number) for passage in passages for number in range(len(library.strips[passage]))]
    return sorted(strips, key=lambda strip: -_cosine(library, text, strip))[:most]


def _cosine(library: Library, text: str, strip: tuple[int, int]) -> float:
    passage, number = strip
    return float(library.grounds[passage].vectors[number] @ library.read[text].pooled)


def _groups(pairs: Sequence[Pair]) -> list[list[int]]:
    order = sorted(range(len(pairs)), key=lambda n: len(pairs[n].strip.ids))
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
