"""Trains the local evaluator and measures it on organisations that it was not trained on.

    python -m crag_graph.benchmarks.train_evaluator --data DATA [--cache FOLDER] [--weights FILE] [--write PAGE]

DATA holds `ares_synthetic/`, `xquad/`, `clapnq/` and the `enterprise_*/` folders; our own questions are in
`benchmarks/training/`. One thread, fixed seeds: about 25 minutes of one quiet core, 7 of them for reading. With
`--cache` what was read and trained is kept there and not done again.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crag_graph.benchmarks import tables, train_head
from crag_graph.benchmarks.calibrate import calibration_error
from crag_graph.benchmarks.cases import ARES, ENTERPRISE, Collection, ares, clapnq, enterprise, own, xquad
from crag_graph.benchmarks.readings import Library, read
from crag_graph.domain import Verdict
from crag_graph.evaluators.choosing import KEEP, KEEP_BESIDE, helpful
from crag_graph.evaluators.judging import READ, probability, ruled
from crag_graph.evaluators.reader import Reader
from crag_graph.evaluators.signals import NAMES
from crag_graph.evaluators.weights import TRAINED, Head, Weights, save
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.verdict import Thresholds, judge

OWN = Path("benchmarks/training")
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
            np.savez(cache / f"reader_{left_out}.npz", **trained[left_out])  # type: ignore[arg-type]  # as in weights.save
    return trained


def _stored_readers(cache: Path | None, names: Sequence[str]) -> dict[str, Weighted] | None:
    files = {name: cache / f"reader_{name}.npz" for name in names} if cache else {}
    if not files or not all(file.exists() for file in files.values()):
        return None
    return {name: dict(np.load(file)) for name, file in files.items()}


@dataclass(frozen=True, kw_only=True)
class Trained:
    """The weights to ship, and for each organisation how it is judged without having been trained on."""

    weights: Weights
    outcomes: Mapping[str, list[tables.Outcome]]
    quick_outcomes: Mapping[str, list[tables.Outcome]]
    """The same by signals alone, without the reader."""
    strips: Sequence["StripCase"]


@dataclass(frozen=True, kw_only=True)
class StripCase:
    """A question whose answer was retrieved: its strips with their scores (parts, strips; 0 where one is astray),
    which hold the answer, and how long they are in characters.
    """

    values: NDArray[np.float64]
    holds: NDArray[np.bool_]
    length: NDArray[np.int64]


def train(given: Material, rare: Floats, by_left_out: Mapping[str, Weighted]) -> Trained:
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
    read_over = {
        name: train_head.with_reader(records, Reader(by_left_out[name]), rare, quick, read=READ)
        for name, records in plain.items()
    }
    weights = Weights(
        rarity=rare, reader=by_left_out[ALL], quick=quick, full=_head(read_over, READER_SIGNALS, without=None)
    )
    return Trained(
        weights=weights,
        strips=[
            case
            for n in ENTERPRISE
            for case in _strip_cases(
                given.organisations[n][0], read_over[n], _head(read_over, READER_SIGNALS, without=n)
            )
        ],
        outcomes={n: _outcomes(read_over[n], _head(read_over, READER_SIGNALS, without=n)) for n in ENTERPRISE},
        quick_outcomes={n: _outcomes(plain[n], _head(plain, NAMES, without=n)) for n in ENTERPRISE},
    )


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


def _outcomes(records: Sequence[train_head.Record], head: Head) -> list[tables.Outcome]:
    return [
        tables.Outcome(
            verdict=record.question.verdict,
            group=record.question.group,
            scores=tuple(_passage_scores(found, head) for found in record.found),
        )
        for record in records
    ]


def _strip_cases(library: Library, records: Sequence[train_head.Record], head: Head) -> Iterator[StripCase]:
    for record in records:
        first = record.found[0]
        held = {
            (first.passages.index(evidence.passage), evidence.start)
            for evidence in record.question.evidence
            if evidence.passage in first.passages
        }
        strips = [(place, strip) for place, number in enumerate(first.passages) for strip in library.strips[number]]
        holds = np.array([(place, strip.start) in held for place, strip in strips])
        if holds.any():
            judged = [_judged(found, head) for found in record.found]
            yield StripCase(
                values=np.stack([np.where(strays, 0.0, values) for values, strays in judged]),
                holds=holds,
                length=np.array([strip.end - strip.start for _, strip in strips]),
            )


def strip_rows(cases: Sequence[StripCase]) -> str:
    """What is kept of the strips with the answer, and of all text, where more or fewer strips are kept."""
    lines = ["| kept from this share of the best | strips with the answer kept | questions that keep all | text kept |"]
    lines.append("|---|---|---|---|")
    for share in (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        kept = [(helpful(case.values, beside=share), case) for case in cases]
        answers = np.concatenate([mask[case.holds] for mask, case in kept]).mean()
        whole = np.mean([mask[case.holds].all() for mask, case in kept])
        text = sum(case.length[mask].sum() for mask, case in kept) / sum(case.length.sum() for case in cases)
        shipped = " (shipped)" if share == KEEP_BESIDE else ""
        lines.append(f"| {share:.1f}{shipped} | {answers:.3f} | {whole:.3f} | {text:.2f} |")
    return "\n".join(lines)


def _strip_scores(found: train_head.Found, head: Head) -> NDArray[np.float64]:
    return _judged(found, head)[0]


def _judged(found: train_head.Found, head: Head) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    logits, strays = ruled(found.part, found.grounds, found.rows, found.owner, head.logits(found.rows))
    return probability(logits), strays


def _passage_scores(found: train_head.Found, head: Head) -> tuple[float, ...]:
    values = _strip_scores(found, head)
    return tuple(float(values[found.owner == place].max(initial=0.0)) for place in range(len(found.grounds)))


def bars(upper: float, lower: float) -> tables.Rule:
    return lambda scores: judge(scores, Thresholds(upper=upper, lower=lower))


def composed(scores: Sequence[Sequence[float]]) -> Verdict:
    """Parts as independent: P(correct) = Π p, P(incorrect) = Π (1 − p), the rest is ambiguous; the likeliest wins."""
    best = np.array([max(part, default=0.0) for part in scores])
    correct, incorrect = float(best.prod()), float((1 - best).prod())
    chances = {Verdict.CORRECT: correct, Verdict.INCORRECT: incorrect, Verdict.AMBIGUOUS: 1 - correct - incorrect}
    return max(chances, key=lambda verdict: chances[verdict])


def mixed(scores: Sequence[Sequence[float]]) -> Verdict:
    """The article's rule for one part, composition for several."""
    return composed(scores) if len(scores) > 1 else judge(scores, Thresholds())


RULES: dict[str, Callable[[Sequence[Sequence[float]]], Verdict]] = {
    "0.7 / 0.3 (shipped)": bars(0.7, 0.3),
    "0.6 / 0.4": bars(0.6, 0.4),
    "0.5 / 0.5": bars(0.5, 0.5),
    "0.7 / 0.3, several parts composed": mixed,
    "composed": composed,
}


def page(trained: Trained) -> str:
    measured = {name: [one for one in found if one.group != FAR] for name, found in trained.outcomes.items()}
    everything = [outcome for outcomes in measured.values() for outcome in outcomes]
    quick = [one for outcomes in trained.quick_outcomes.values() for one in outcomes if one.group != FAR]
    far = np.array([one.best.max() for outcomes in trained.outcomes.values() for one in outcomes if one.group == FAR])
    pairs = tables.labelled_parts(everything)
    error = calibration_error(np.array([score for score, _ in pairs]), np.array([label for _, label in pairs], float))
    by_set = {
        name: calibration_error(
            np.array([score for score, _ in tables.labelled_parts(outcomes)]),
            np.array([label for _, label in tables.labelled_parts(outcomes)], float),
        )
        for name, outcomes in measured.items()
    }
    calibrated = (
        f"Parts of questions (n {len(pairs)}, answered {np.mean([label for _, label in pairs]):.2f}): calibration error "
        f"(ECE, 10 bins) {error:.3f}; by set {', '.join(f'{name} {value:.3f}' for name, value in by_set.items())}; "
        f"AUC {tables.auc(pairs):.3f}."
    )
    lines = [
        "# The local evaluator, measured",
        "",
        "`make train-evaluator DATA=…` (`python -m crag_graph.benchmarks.train_evaluator --data DATA --write benchmarks/evaluator.md`)",
        "",
        "Each organisation is judged by a reader and a head that were trained on the others, on eight passages that a",
        "search in memory (words and meaning, fused by rank) finds for the standalone question. Harmful: said correct",
        "although the library was not enough, or incorrect although it held something. Needless web: the library was",
        "enough, but the verdict was not correct.",
        "",
        "## Verdicts",
        "",
        tables.VERDICT_HEAD,
        *(tables.verdict_row(f"all three, {name}", everything, rule) for name, rule in RULES.items()),
        *(
            tables.verdict_row(f"{name}, {rule}", outcomes, RULES[rule])
            for name, outcomes in measured.items()
            for rule in ("0.7 / 0.3 (shipped)", "composed")
        ),
        tables.verdict_row("all three without the reader, composed", quick, composed),
        "",
        "## By kind of question",
        "",
        "Share of right verdicts. `near`: a topic of the library without the asked fact. `multi_incorrect`: both parts",
        "missing.",
        "",
        tables.group_rows(everything, {name: RULES[name] for name in ("0.7 / 0.3 (shipped)", "composed")}),
        "",
        f"{len(far)} public questions (XQuAD, CLAPNQ) asked of the three libraries, which cannot answer them:",
        f"{(far < Thresholds().lower).mean():.2f} score below {Thresholds().lower}, mean score {far.mean():.2f}.",
        "",
        "## Calibration",
        "",
        calibrated,
        "",
        tables.reliability_rows(pairs),
        "",
        "## Strips",
        "",
        f"{len(trained.strips)} questions whose answer was among the eight passages; a strip is kept from a score of",
        f"{KEEP} on if it reaches a share of the best strip's score.",
        "",
        strip_rows(trained.strips),
        "",
    ]
    return "\n".join(lines)


async def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--weights", type=Path, default=TRAINED)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args(arguments)
    began = time.process_time()
    given = await material(options.data, options.cache)
    rare = rarity(given.public)
    by_left_out = _stored_readers(options.cache, [*given.organisations, ALL]) or readers(given, rare, options.cache)
    trained = train(given, rare, by_left_out)
    save(trained.weights, options.weights)
    report = page(trained)
    if options.write:
        options.write.write_text(report, encoding="utf-8")
    print(report, f"\n{(time.process_time() - began) / 60:.1f} CPU minutes", file=sys.stdout)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
