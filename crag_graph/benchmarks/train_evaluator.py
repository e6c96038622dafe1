"""Trains the local evaluator and measures it on organisations that it was not trained on.

    python -m crag_graph.benchmarks.train_evaluator --data DATA [--cache FOLDER] [--weights FILE] [--write PAGE] [--hold-out]

DATA holds `ares_synthetic/`, `xquad/`, `clapnq/` and the `enterprise_*/` folders; our own questions are in
`benchmarks/training/`. One thread, fixed seeds: 11 CPU minutes, 3 of them for reading. The same machine gives the same
weights; elsewhere rounding may grow in training, and figures are to be compared, not numbers: two seeds differ by about
.01 in AUC. With `--cache` what was read and trained is kept there and not done again. With `--hold-out`
half of XQuAD's articles and CLAPNQ's pages are not trained on; transfer.py measures such weights on that half.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crag_graph.benchmarks import evaluator_outcomes, tables, train_head
from crag_graph.benchmarks.cases import ARES, ENTERPRISE, Collection, ares, clapnq, enterprise, own, xquad
from crag_graph.benchmarks.evaluator_page import Measured, page
from crag_graph.benchmarks.held_out import seen
from crag_graph.benchmarks.readings import Library, read
from crag_graph.domain import Verdict
from crag_graph.evaluators.judging import READ
from crag_graph.evaluators.reader import Reader
from crag_graph.evaluators.signals import NAMES
from crag_graph.evaluators.weights import TRAINED, Head, Weights, load, save
from crag_graph.models.embed_local import LocalEmbedder

OWN = Path("benchmarks/training")
NOTES = Path("benchmarks/evaluator_notes.md")
"""What is said of the figures by hand: the page ends with it."""
OWN_WEIGHT = 0.5
"""A question of our own counts half: single facts and near misses only, it would tilt the head towards those."""
FAR = "far afield"
"""Group of public questions that are asked of an organisation's library, which cannot answer them."""
FAR_SETS, FAR_ORGANISATION, FAR_OWN = ("xquad", "clapnq"), 40, 12
FAR_WEIGHT = 0.5
PUBLIC_EPOCHS, PUBLIC_RATE = 4, 1e-3
EPOCHS, RATE = 3, 3e-4
REPLAY = 1_500
"""Public pairs mixed in with the organisations' so that they are not forgotten."""
VOCABULARY = 30_522
READER_SIGNALS = (*NAMES, "reader")
ALL = "all"

Floats = NDArray[np.float32]
Weighted = dict[str, Floats]


@dataclass(frozen=True, kw_only=True)
class Material:
    """What training reads: public sets, and organisations by name (our own under `own`)."""

    public: tuple[Library, ...]
    organisations: Mapping[str, tuple[Library, ...]]


async def material(data: Path, cache: Path | None) -> Material:
    embedder = LocalEmbedder()

    async def libraries(collections: Sequence[Collection]) -> tuple[Library, ...]:
        return tuple([await read(collection, embedder, cache) for collection in collections])

    public = [xquad(data / "xquad"), clapnq(data / "clapnq"), *(ares(data / "ares_synthetic", name) for name in ARES)]
    organisations = {name: await libraries([enterprise(data / name)]) for name in ENTERPRISE}
    organisations["own"] = await libraries(_own())
    return Material(public=await libraries(public), organisations=organisations)


def _own() -> list[Collection]:
    return [own(file) for file in sorted(OWN.glob("*.txt"))]


def rarity(libraries: Sequence[Library]) -> Floats:
    """How rare each vocabulary id is in general text: inverse document frequency, scaled to [0, 1]."""
    counts, total = np.zeros(VOCABULARY), 0
    for library in libraries:
        for prepared in library.prepared:
            counts[np.unique(prepared.ids)] += 1
            total += 1
    weights = np.log((total + 1) / (counts + 1))
    rare: Floats = (weights / weights.max()).astype(np.float32)
    return rare


def readers(given: Material, rare: Floats, cache: Path | None) -> dict[str, Weighted]:
    """A reader for each organisation that never saw it, and one trained on all."""
    from crag_graph.benchmarks import train_reader  # noqa: PLC0415 - needs torch, which a cache makes unnecessary

    generator = np.random.default_rng(0)
    public = [pair for library in given.public for pair in train_reader.public_pairs(library, generator)]
    replay = [public[n] for n in generator.choice(len(public), min(REPLAY, len(public)), replace=False)]
    start = train_reader.Network()
    train_reader.fit(start, public, rare, epochs=PUBLIC_EPOCHS, rate=PUBLIC_RATE, seed=0)
    pairs = {
        name: [pair for library in libraries for pair in train_reader.enterprise_pairs(library, most=5)]
        for name, libraries in given.organisations.items()
    }
    trained = {}
    for left_out in (*given.organisations, ALL):
        network = train_reader.Network()
        network.load_state_dict(start.state_dict())
        chosen = [pair for name in pairs if name != left_out for pair in pairs[name]]
        train_reader.fit(network, [*chosen, *replay], rare, epochs=EPOCHS, rate=RATE, seed=0)
        trained[left_out] = network.weights()
        if cache:
            cache.mkdir(parents=True, exist_ok=True)
            np.savez(cache / f"reader_{left_out}.npz", **trained[left_out])  # type: ignore[arg-type]  # as in weights.save
    return trained


def _stored_readers(cache: Path | None, names: Sequence[str]) -> dict[str, Weighted] | None:
    files = {name: cache / f"reader_{name}.npz" for name in names} if cache else {}
    if not files or not all(file.exists() for file in files.values()):
        return None
    return {name: dict(np.load(file)) for name, file in files.items()}


Records = dict[str, list[train_head.Record]]


def train(given: Material, rare: Floats, by_left_out: Mapping[str, Weighted]) -> tuple[Weights, "Heads"]:
    """The weights to ship, and the heads and records that they are measured with."""
    generator = np.random.default_rng(0)
    plain = {
        name: [
            record
            for library in libraries
            for asked in (library, _far_afield(library, given.public, generator, own=name == "own"))
            for record in train_head.records(asked, rare)
        ]
        for name, libraries in given.organisations.items()
    }
    quick = _head(plain, NAMES, without=None)
    over = {name: _read(records, by_left_out[name], rare, quick) for name, records in plain.items()}
    weights = Weights(rarity=rare, reader=by_left_out[ALL], quick=quick, full=_head(over, READER_SIGNALS, without=None))
    heads = Heads(
        plain=plain,
        over=over,
        quick={name: _head(plain, NAMES, without=name) for name in ENTERPRISE},
        full={name: _head(over, READER_SIGNALS, without=name) for name in ENTERPRISE},
    )
    return weights, heads


@dataclass(frozen=True, kw_only=True)
class Heads:
    """For each organisation the heads that were fitted without it; the records by signals alone, and read over."""

    plain: Records
    over: Records
    quick: Mapping[str, Head]
    full: Mapping[str, Head]


async def measure(given: Material, weights: Weights, heads: Heads, by_left_out: Mapping[str, Weighted]) -> Measured:
    def judged(*, far: bool) -> dict[str, list[tables.Outcome]]:
        chosen = {n: [one for one in heads.over[n] if (one.question.group == FAR) is far] for n in ENTERPRISE}
        return {n: evaluator_outcomes.outcomes(chosen[n], heads.full[n]) for n in ENTERPRISE}

    removed = {}
    for name in ENTERPRISE:
        bare = evaluator_outcomes.without_answers(given.organisations[name][0], weights.rarity)
        read_over = _read(bare, by_left_out[name], weights.rarity, weights.quick)
        removed[name] = evaluator_outcomes.outcomes(read_over, heads.full[name])
    return Measured(
        outcomes=judged(far=False),
        quick={
            n: evaluator_outcomes.outcomes([r for r in heads.plain[n] if r.question.group != FAR], heads.quick[n])
            for n in ENTERPRISE
        },
        far=judged(far=True),
        removed=removed,
        strips=[case for n in ENTERPRISE for case in evaluator_outcomes.strip_cases(heads.over[n], heads.full[n])],
        cost=await evaluator_outcomes.cost(given.organisations[ENTERPRISE[0]][0], weights, LocalEmbedder()),
    )


def _read(records: Sequence[train_head.Record], reader: Weighted, rare: Floats, quick: Head) -> list[train_head.Record]:
    return train_head.with_reader(records, Reader(reader), rare, quick, read=READ)


def _far_afield(library: Library, public: Sequence[Library], generator: np.random.Generator, *, own: bool) -> Library:
    """The library asked what others are asked: public questions on other topics."""
    read, questions = library.read, []
    for other in (one for one in public if one.collection.name in FAR_SETS):
        count = FAR_OWN if own else FAR_ORGANISATION
        chosen = generator.choice(len(other.collection.questions), count, replace=False)
        questions += [other.collection.questions[number] for number in chosen]
        read = read | other.read
    asked = tuple(replace(one, verdict=Verdict.INCORRECT, group=FAR, evidence=()) for one in questions)
    return replace(library, collection=replace(library.collection, questions=asked), read=read)


def _head(by_name: Mapping[str, Sequence[train_head.Record]], names: Sequence[str], *, without: str | None) -> Head:
    chosen = [
        (record, (OWN_WEIGHT if name == "own" else 1.0) * (FAR_WEIGHT if record.question.group == FAR else 1.0))
        for name, records in by_name.items()
        if name != without
        for record in records
    ]
    return train_head.fit([record for record, _ in chosen], names, weights=[weight for _, weight in chosen])


async def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--weights", type=Path, default=TRAINED)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--hold-out", action="store_true")
    options = parser.parse_args(arguments)
    if options.hold_out and options.weights == TRAINED:
        parser.error("--hold-out makes weights that are only measured: name a file with --weights")
    began = time.process_time()
    given, trained = await material(options.data, options.cache), options.cache
    if options.hold_out:
        given = replace(given, public=tuple(seen(library) for library in given.public))
        trained = options.cache and options.cache / "held_out"
    rare = rarity(given.public)
    by_left_out = _stored_readers(trained, [*given.organisations, ALL]) or readers(given, rare, trained)
    weights, heads = train(given, rare, by_left_out)
    save(weights, options.weights)
    measured = await measure(given, load(options.weights), heads, by_left_out)
    _tell(measured, options.write)
    print(f"{(time.process_time() - began) / 60:.1f} CPU minutes")


def _tell(measured: Measured, file: Path | None) -> None:
    report = page(measured, NOTES.read_text(encoding="utf-8"))
    print(report)
    if file:
        file.write_text(report, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
