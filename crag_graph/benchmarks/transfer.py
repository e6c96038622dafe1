"""What the shipped evaluator makes of questions over public sets: is what was found enough, or not?

    python -m crag_graph.benchmarks.transfer --data DATA [--cache FOLDER] [--weights FILE] [--write PAGE]

DATA holds `xquad/`, `clapnq/`, `ares_synthetic/`, `pubmedqa/` and the `enterprise_*/` folders. FILE holds weights that
`train_evaluator --hold-out` made: they are measured on the half of XQuAD and CLAPNQ that they never saw.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crag_graph.benchmarks.cases import (
    ARES,
    ENTERPRISE,
    Collection,
    Question,
    ares,
    clapnq,
    enterprise,
    pubmedqa,
    xquad,
)
from crag_graph.benchmarks.evaluator_outcomes import stored
from crag_graph.benchmarks.held_out import is_held_out, own_passage, page_of
from crag_graph.benchmarks.quality import calibration_error
from crag_graph.benchmarks.readings import Library, read
from crag_graph.benchmarks.tables import auc
from crag_graph.domain import Verdict
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.evaluators.weights import load
from crag_graph.evaluators.words import content_words, language, stem
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.services import Evaluator
from crag_graph.verdict import Thresholds, judge

ARES_QUESTIONS = 300
"""Read of each set at most; those whose answer is found in the text are asked."""
Measure = Callable[[Library, Evaluator], Awaitable[list["Judged"]]]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A question with what was said of its passages. `enough`: they answer it; `score`: the best of its weakest part;
    `page`: the article or page that it was asked about.
    """

    enough: bool
    score: float
    said: Verdict
    page: str = ""


async def within_articles(library: Library, evaluator: Evaluator) -> list[Judged]:
    """Each question over the paragraphs of its article; of every second one, the answer is taken out."""
    articles: dict[str, set[int]] = {}
    for question in library.collection.questions:
        articles.setdefault(question.group, set()).add(own_passage(question))
    everything = set(range(len(library.passages)))
    return [
        await _with_or_without(library, evaluator, question, number, everything - articles[question.group])
        for number, question in enumerate(library.collection.questions)
    ]


async def within_sets(library: Library, evaluator: Evaluator) -> list[Judged]:
    """Each question over the eight best passages of the set; of every second one, the answer is taken out."""
    return [
        await _with_or_without(library, evaluator, question, number, set())
        for number, question in enumerate(library.collection.questions)
    ]


async def right_pages(library: Library, evaluator: Evaluator) -> list[Judged]:
    """Each question over its passage of the right page, which answers it or not."""
    return [
        await _judge(library, evaluator, question, [question.raw], enough=question.verdict is Verdict.CORRECT)
        for question in library.collection.questions
    ]


async def other_words(library: Library, evaluator: Evaluator) -> list[Judged]:
    """The answered questions in English that share no content word with any quote that answers them."""
    return [
        await _judge(library, evaluator, question, library.search(question.text), enough=True)
        for question in library.collection.questions
        if question.verdict is Verdict.CORRECT
        and question.evidence
        and language(question.text) == "en"
        and shares_no_word(question)
    ]


def shares_no_word(question: Question) -> bool:
    """Between the standalone question and the gold quotes, by stem."""
    quoted = {stem(word) for quote in question.raw["gold_quote"] for word in content_words(quote)}
    return not quoted & {stem(word) for word in content_words(question.text)}


async def _with_or_without(
    library: Library, evaluator: Evaluator, question: Question, number: int, elsewhere: set[int]
) -> Judged:
    own, left_in = {evidence.passage for evidence in question.evidence}, number % 2 == 0
    found = library.search(question.text, without=tuple(elsewhere if left_in else elsewhere | own))
    return await _judge(library, evaluator, question, found, enough=bool(own & set(found)))


async def _judge(
    library: Library, evaluator: Evaluator, question: Question, found: Sequence[int], *, enough: bool
) -> Judged:
    evaluation = await evaluator.evaluate(question.text, [stored(library, number) for number in found])
    scores = [[score.value for score in part.scores] for part in evaluation.parts]
    weakest = min(max(part, default=0.0) for part in scores)
    page = page_of(library.collection, question)
    return Judged(enough=enough, score=weakest, said=judge(scores, Thresholds()), page=page)


HEAD = (
    "| set | n | enough | right at 0.7 / 0.3 | right at the best bar | AUC | calibration error | enough: said correct / incorrect "
    "| not enough: said correct / incorrect |\n|---|---|---|---|---|---|---|---|---|"
)


def row(name: str, judged: Sequence[Judged]) -> str:
    """A line under HEAD; what cannot be told of so few is no number."""
    enough = np.array([one.enough for one in judged], bool)
    scores = np.array([one.score for one in judged], float)
    said = np.array([one.said for one in judged], object)
    cells = [
        f"{len(judged)}",
        f"{_share(enough):.2f}",
        f"{_share((said == Verdict.CORRECT) == enough):.3f}",
        f"{max((_share((scores >= bar) == enough) for bar in np.unique(scores)), default=float('nan')):.3f}",
        f"{auc([(one.score, one.enough) for one in judged]):.3f}",
        f"{calibration_error(scores, enough.astype(float)):.3f}",
        *(
            f"{_share(said[group] == Verdict.CORRECT):.2f} / {_share(said[group] == Verdict.INCORRECT):.2f}"
            for group in (enough, ~enough)
        ),
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _share(truths: NDArray[np.bool_]) -> float:
    return float(truths.mean()) if len(truths) else float("nan")


PARAPHRASE_HEAD = (
    "| questions | n | not lost | said correct / ambiguous / incorrect | median score |\n|---|---|---|---|---|"
)


def paraphrase_row(name: str, judged: Sequence[Judged]) -> str:
    """Not lost: not called incorrect."""
    order = (Verdict.CORRECT, Verdict.AMBIGUOUS, Verdict.INCORRECT)
    counts = [sum(one.said is verdict for one in judged) for verdict in order]
    median = np.median([one.score for one in judged]) if judged else float("nan")
    said = " / ".join(map(str, counts))
    return f"| {name} | {len(judged)} | {len(judged) - counts[-1]} | {said} | {median:.2f} |"


async def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args(arguments)
    text = await _measured(options.data, options.cache, options.weights)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


async def _measured(data: Path, cache: Path | None, weights: Path | None) -> str:
    embedder = LocalEmbedder()
    shipped = LocalEvaluator(embedder)
    never_saw = LocalEvaluator(embedder, weights=load(weights)) if weights else None

    async def halves(name: str, collection: Collection, judge_all: Measure) -> list[str]:
        library = await read(collection, embedder, cache)
        judged = await judge_all(library, shipped)
        rows = [row(name, judged), row(f"{name}, half of them", _held_out(judged))]
        if never_saw:
            rows.append(row(f"{name}, that half never seen", _held_out(await judge_all(library, never_saw))))
        return rows

    async def whole(name: str, collection: Collection) -> str:
        return row(name, await within_sets(await read(collection, embedder, cache), shipped))

    rows = [
        HEAD,
        *await halves("XQuAD, paragraphs of one article", xquad(data / "xquad"), within_articles),
        *await halves("CLAPNQ, one passage of the right page", clapnq(data / "clapnq"), right_pages),
        *[await whole(f"ARES {name}", ares(data / "ares_synthetic", name, most=ARES_QUESTIONS)) for name in ARES],
        await whole("PubMedQA", pubmedqa(data / "pubmedqa")),
    ]
    paraphrases = {
        name: await other_words(await read(enterprise(data / name), embedder, cache), shipped) for name in ENTERPRISE
    }
    every = [one for judged in paraphrases.values() for one in judged]
    lines = [paraphrase_row(name, judged) for name, judged in (*paraphrases.items(), ("all three", every))]
    return PAGE.format(rows="\n".join(rows), paraphrases="\n".join([PARAPHRASE_HEAD, *lines]))


def _held_out(judged: Sequence[Judged]) -> list[Judged]:
    return [one for one in judged if is_held_out(one.page)]


PAGE = """# The shipped evaluator on public questions

`python -m crag_graph.benchmarks.transfer --data DATA --weights FILE --write benchmarks/transfer.md`
with FILE from `python -m crag_graph.benchmarks.train_evaluator --data DATA --weights FILE --hold-out`

Two-way: are the passages enough? XQuAD: the eight best paragraphs of the question's article (articles have five), of
every second question without the one that answers it. CLAPNQ: the passage of the right page, which answers the question
or does not. ARES and PubMedQA: the eight best passages of the whole set, of every second question without those that
answer it. The best bar is chosen on the same questions, so it is a bound, not a promise.

What was seen: the shipped reader was trained on the questions and passages of XQuAD, CLAPNQ and ARES, the head on
questions of XQuAD and CLAPNQ asked of other libraries. PubMedQA nobody saw. "Never seen": weights of the same kind,
trained from nothing without half of XQuAD's articles and CLAPNQ's pages, chosen by the hash of their names, and measured
on that half: in domain, held out. ARES was in that training too, and its passages come from Wikipedia as theirs do.

{rows}

## Paraphrases without a shared word

Answered English questions of the three organisations that share no content word (by stem) with a quote that answers
them, over the eight passages that are found. Not lost: not called incorrect. The shipped weights saw these sets in
training.

{paraphrases}
"""


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
