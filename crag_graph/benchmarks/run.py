"""What each part of Corrective RAG buys: the same questions through the graph with parts of it taken away.

    python -m crag_graph.benchmarks.run --data FOLDER [--cache FOLDER] [--most N] [--write benchmarks/pipeline.md]
        [--chat-url URL --chat-model NAME --chat-key KEY]

FOLDER holds `docs/`, `web/pages.jsonl` and `questions.jsonl` as the enterprise sets do. Without a chat model the
answers are quoted from the sources.
"""

import argparse
import asyncio
import json
import re
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crag_graph.benchmarks.cases import TODAY, Question, enterprise
from crag_graph.benchmarks.readings import Library, read
from crag_graph.benchmarks.rewriting import Index, fused
from crag_graph.context import Context, Policy
from crag_graph.domain import Answer, Kind, Part, Passage, Score, Strip
from crag_graph.embedding import Embedder
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.evaluators.prepared import pack
from crag_graph.graph import Graph, build
from crag_graph.models.chat_api import ApiWriter
from crag_graph.models.chat_client import ApiChat
from crag_graph.models.chat_extractive import ExtractiveWriter
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.services import Evaluation, Evaluator, Filtering, Retrieval, Services, WebSearch, Writer
from crag_graph.state import State
from crag_graph.websearch.none import NoWeb

CHARACTERS_A_TOKEN = 4


class MemoryLibrary:
    """A collection in memory, searched by words and meaning, with what the evaluator prepares at ingest."""

    def __init__(self, library: Library, embedder: LocalEmbedder) -> None:
        self._library, self._embedder = library, embedder
        self._ready = [
            replace(passage, features=pack(prepared))
            for passage, prepared in zip(library.passages, library.prepared, strict=True)
        ]

    async def search(self, query: str, *, spaces: Sequence[str], limit: int) -> Retrieval:  # noqa: ARG002 - one space
        if query not in self._library.read:
            (self._library.read[query],) = await self._embedder.embed_tokens([query])
        return Retrieval(passages=tuple(self._ready[n] for n in self._library.search(query, limit=limit)))


class FolderWeb:
    """The pages of a file as the whole web."""

    available = True

    def __init__(self, pages: Sequence[Passage], index: Index, embedder: Embedder) -> None:
        self._pages, self._index, self._embedder = pages, index, embedder

    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:
        (vector,) = await self._embedder.embed([query])
        scores = fused(self._index.by_words(query), self._index.by_meaning(vector))
        return tuple(self._pages[n] for n in np.argsort(-scores, kind="stable")[:limit])


class Trusting:
    """Judges nothing: every passage is enough and every strip is kept. Plain RAG."""

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        scores = tuple(Score(value=1.0, reason="not judged") for _ in passages)
        return Evaluation(scores=scores, parts=(Part(text=question, scores=scores),))

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:  # noqa: ARG002 - nothing is judged
        return Filtering(
            scores=tuple(Score(value=1.0, reason="not judged") for _ in strips), keep=(True,) * len(strips)
        )


class Unrefined:
    """Judges passages, keeps every strip of the good ones."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        return await self._evaluator.evaluate(question, passages)

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        return await Trusting().filter(question, strips)


VARIANTS = ("plain RAG", "Corrective RAG without refinement", "Corrective RAG without the web", "Corrective RAG")


@dataclass(frozen=True, kw_only=True)
class Ran:
    """One question through one variant. `hit`: the answer holds what it must and nothing that it must not."""

    hit: bool
    abstained: bool
    answerable: bool
    cited_rightly: tuple[bool, ...]
    tokens: float
    calls: int
    milliseconds: float
    verdict_right: bool
    superseded: bool
    """An older document says something else."""


async def ask(graph: Graph, services: Services, question: Question) -> Ran:
    policy, loop = Policy(), asyncio.get_running_loop()
    context = Context(services=services, policy=policy, today=TODAY, ends_at=loop.time() + policy.deadline)
    began = time.perf_counter()
    start: State = {"question": question.text, "spaces": ("all",), "web_allowed": True}
    state: Any = await graph.ainvoke(start, context=context)
    answer: Answer = state["answer"]
    kept = sum(len(judged.strip.text) for judged in state.get("strips", ()) if judged.kept)
    right = {*question.raw["gold_docs"], *question.raw["also_ok"], *question.raw["gold_web"]}
    return Ran(
        hit=answer_hit(answer.text, question.raw["must_contain"], question.raw["must_not_contain"]),
        abstained=answer.abstained,
        answerable=bool(question.raw["answer"]),
        cited_rightly=tuple(citation.source in right for citation in answer.citations),
        tokens=kept / CHARACTERS_A_TOKEN,
        calls=len(state.get("calls", ())),
        milliseconds=1_000 * (time.perf_counter() - began),
        verdict_right=answer.verdict is question.verdict,
        superseded="supersed" in question.raw["type"],  # the group is another sorting, in some sets
    )


def answer_hit(text: str, needed: Sequence[Any], forbidden: Sequence[Any]) -> bool:
    """All of `needed` and none of `forbidden` stand in the text; of an inner list any one counts."""
    return all(_any_in(text, one) for one in needed) and not any(_any_in(text, one) for one in forbidden)


def _any_in(text: str, wanted: Any) -> bool:
    return any(_stands_in(text, one) for one in ([wanted] if isinstance(wanted, str) else wanted))


def _stands_in(text: str, wanted: str) -> bool:
    """Not as a part of a longer number or word."""
    before = r"(?<![\w])(?<!\d[.,])" if wanted[:1].isalnum() else ""
    after = r"(?![\w])(?![.,]\d)" if wanted[-1:].isalnum() else ""
    return re.search(before + re.escape(wanted) + after, text, re.IGNORECASE) is not None


def current(ran: Sequence[Ran]) -> str:
    """How often the current value is quoted where an older document says something else."""
    concerned = [one for one in ran if one.superseded and one.answerable]
    return f"{sum(one.hit and not one.abstained for one in concerned)} of {len(concerned)}"


def row(name: str, ran: Sequence[Ran]) -> str:
    answerable = [one for one in ran if one.answerable]
    cited = [right for one in ran for right in one.cited_rightly]
    empty = [one for one in ran if not one.answerable]
    cells = [
        _of([one.hit and not one.abstained for one in answerable]),
        _of([not one.abstained and not (one.answerable and one.hit) for one in ran]),
        _of([one.abstained for one in empty]),
        _of([one.abstained for one in answerable]),
        _of(cited),
        current(ran),
        _of([one.verdict_right for one in ran]),
        f"{_mean([one.tokens for one in ran]):.0f}",
        f"{_mean([one.calls for one in ran]):.2f}",
        f"{statistics.median(one.milliseconds for one in ran):.0f}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


HEAD = (
    "| | answer hit | wrong answers | abstains where nothing is known | abstains needlessly | cited sources that are right "
    "| current value quoted | right verdicts | tokens to the writer | model calls | ms (median) |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


async def measure(folder: Path, writer: Writer, *, cache: Path | None, most: int | None) -> dict[str, list[Ran]]:
    """Every first question of an organisation through every variant, by the variant's name."""
    embedder = LocalEmbedder()
    library = await read(enterprise(folder), embedder, cache)
    questions = [question for question in library.collection.questions if not question.raw["conversation"]][:most]
    pages = _pages(folder / "web" / "pages.jsonl")
    index = Index(
        [(page.id, f"{page.title} {page.text}") for page in pages], await embedder.embed([p.text for p in pages])
    )
    local, web = LocalEvaluator(embedder), FolderWeb(pages, index, embedder)
    parts: Sequence[tuple[Evaluator, WebSearch]] = [
        (Trusting(), NoWeb()),
        (Unrefined(local), web),
        (local, NoWeb()),
        (local, web),
    ]
    graph, memory = build(), MemoryLibrary(library, embedder)
    ran = {}
    for name, (evaluator, search) in zip(VARIANTS, parts, strict=True):
        services = Services(library=memory, evaluator=evaluator, writer=writer, web=search)
        ran[name] = [await ask(graph, services, question) for question in questions]
    return ran


def table(title: str, by_variant: Mapping[str, Sequence[Ran]]) -> str:
    questions = next(iter(by_variant.values()))
    answerable = sum(one.answerable for one in questions)
    rows = "\n".join(row(name, ran) for name, ran in by_variant.items())
    return f"### {title} (n {len(questions)}, {answerable} of them have an answer)\n\n{HEAD}\n{rows}\n"


def _pages(file: Path) -> list[Passage]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Passage(
            id=one["url"],
            kind=Kind.WEB,
            document=one["url"],
            source=one["url"],
            title=one["title"],
            text=one["content"],
            link=one["url"],
        )
        for one in rows
    ]


def _of(truths: Sequence[bool]) -> str:
    """The share, and of how many."""
    return f"{_mean(truths):.2f} of {len(truths)}"


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


async def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, action="append")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--most", type=int)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--chat-url")
    parser.add_argument("--chat-model", default="")
    parser.add_argument("--chat-key", default="none")
    options = parser.parse_args(arguments)
    writer: Writer = ExtractiveWriter()
    if options.chat_url:
        writer = ApiWriter(
            ApiChat(base_url=options.chat_url, api_key=options.chat_key, model=options.chat_model, timeout=120)
        )
    sets = {
        folder.name: await measure(folder, writer, cache=options.cache, most=options.most) for folder in options.data
    }
    together = {name: [one for by_variant in sets.values() for one in by_variant[name]] for name in VARIANTS}
    tables = "\n".join(table(title, ran) for title, ran in {"All together": together, **sets}.items())
    text = PAGE.format(writer=options.chat_model or "quoted from the sources, no model", tables=tables)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    print(text)


PAGE = """# What each part buys

`python -m crag_graph.benchmarks.run --data DATA/enterprise_dev --data DATA/enterprise_saas --data DATA/enterprise_city --write benchmarks/pipeline.md`

The same first questions (no follow-ups) through the graph. Answers: {writer}. Answer hit: of the questions that have
an answer, on the documents or the set's web pages, those whose answer holds all that it must and no superseded value.
Wrong: answered, but not with that. Current value: where an older document says something else, the answer has today's.
Each share stands with the number that it is of.
The evaluator's shipped weights were trained on these sets too: what is compared is the variants with each other.

{tables}"""


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
