"""What the shipped evaluator makes of public questions: is what was found enough, or not?

    python -m crag_graph.benchmarks.transfer --data DATA [--cache FOLDER] [--write PAGE]

DATA holds `xquad/` and `clapnq/`.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crag_graph.benchmarks.cases import clapnq, xquad
from crag_graph.benchmarks.evaluator_outcomes import stored
from crag_graph.benchmarks.quality import calibration_error
from crag_graph.benchmarks.readings import Library, read
from crag_graph.benchmarks.tables import auc
from crag_graph.domain import Verdict
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.services import Evaluator
from crag_graph.verdict import Thresholds, judge


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A question with what was said of its passages. `enough`: they answer it; `score`: the best of its weakest part."""

    enough: bool
    score: float
    said: Verdict


async def within_articles(library: Library, evaluator: Evaluator) -> list[Judged]:
    """Each question over the eight best paragraphs of its article; of every second one, the answer is taken out."""
    articles: dict[str, set[int]] = {}
    for question in library.collection.questions:
        articles.setdefault(question.group, set()).add(question.evidence[0].passage)
    judged = []
    for number, question in enumerate(library.collection.questions):
        own, enough = question.evidence[0].passage, number % 2 == 0
        elsewhere = set(range(len(library.passages))) - articles[question.group]
        found = library.search(question.text, without=[*elsewhere, *([] if enough else [own])])
        judged.append(await _judge(library, evaluator, question.text, found, enough=enough and own in found))
    return judged


async def right_pages(library: Library, evaluator: Evaluator) -> list[Judged]:
    """Each question over its passage of the right page, which answers it or not."""
    return [
        await _judge(library, evaluator, question.text, [question.raw], enough=question.verdict is Verdict.CORRECT)
        for question in library.collection.questions
    ]


async def _judge(library: Library, evaluator: Evaluator, text: str, found: Sequence[int], *, enough: bool) -> Judged:
    evaluation = await evaluator.evaluate(text, [stored(library, number) for number in found])
    scores = [[score.value for score in part.scores] for part in evaluation.parts]
    weakest = min(max(part, default=0.0) for part in scores)
    return Judged(enough=enough, score=weakest, said=judge(scores, Thresholds()))


HEAD = (
    "| set | n | enough | right at 0.7 / 0.3 | right at the best bar | AUC | calibration error | enough: said correct / incorrect "
    "| not enough: said correct / incorrect |\n|---|---|---|---|---|---|---|---|---|"
)


def row(name: str, judged: Sequence[Judged]) -> str:
    enough = np.array([one.enough for one in judged])
    scores = np.array([one.score for one in judged])
    said = np.array([one.said for one in judged])
    best = max(((scores >= bar) == enough).mean() for bar in np.unique(scores))
    cells = [
        f"{len(judged)}",
        f"{enough.mean():.2f}",
        f"{((said == Verdict.CORRECT) == enough).mean():.3f}",
        f"{best:.3f}",
        f"{auc([(one.score, one.enough) for one in judged]):.3f}",
        f"{calibration_error(scores, enough.astype(float)):.3f}",
        *(
            f"{(said[group] == Verdict.CORRECT).mean():.2f} / {(said[group] == Verdict.INCORRECT).mean():.2f}"
            for group in (enough, ~enough)
        ),
    ]
    return f"| {name} | {' | '.join(cells)} |"


async def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args(arguments)
    embedder = LocalEmbedder()
    evaluator = LocalEvaluator(embedder)
    articles = await read(xquad(options.data / "xquad"), embedder, options.cache)
    pages = await read(clapnq(options.data / "clapnq"), embedder, options.cache)
    rows = [
        row("XQuAD, paragraphs of one article", await within_articles(articles, evaluator)),
        row("CLAPNQ, one passage of the right page", await right_pages(pages, evaluator)),
    ]
    text = PAGE.format(rows="\n".join([HEAD, *rows]))
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


PAGE = """# The shipped evaluator on public questions

`python -m crag_graph.benchmarks.transfer --data DATA --write benchmarks/transfer.md`

Two-way: are the passages enough? XQuAD: the eight best paragraphs of the question's article, of every second question
without the one that answers it. CLAPNQ: the passage of the right page, which answers the question or does not. The best
bar is chosen on the same questions, so it is a bound, not a promise. The shipped reader was trained on these questions
and passages among others (the head was not): the figures are in domain, and seen.

{rows}
"""


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
