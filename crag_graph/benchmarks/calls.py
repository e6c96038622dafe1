"""How many model calls an answer costs on each path of the graph, and how long it takes.

Needs a chat model and a web search that answer in a known time:
`python -m tests.fakes.serving python -m crag_graph.benchmarks.calls --output benchmarks/calls.md`. With one thread for
numpy (OPENBLAS_NUM_THREADS=1): more of them get into each other's way wherever the cores have other work.
"""

import argparse
import asyncio
import os
import platform
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from crag_graph.context import Context, Policy
from crag_graph.domain import Kind, Passage, TextDelta, Turn
from crag_graph.embedding import Embedder, Vectors
from crag_graph.evaluators.llm import LlmEvaluator
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.evaluators.prepared import Preparer
from crag_graph.graph import Graph, build
from crag_graph.knowledge.library import location
from crag_graph.knowledge.loaders.load import load, supported
from crag_graph.knowledge.split import split
from crag_graph.models.chat_api import ApiWriter
from crag_graph.models.chat_client import ApiChat
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.services import Evaluator, Retrieval, Services
from crag_graph.state import State
from crag_graph.websearch.tavily import TavilySearch

COMMAND = "OPENBLAS_NUM_THREADS=1 python -m tests.fakes.serving python -m crag_graph.benchmarks.calls --output benchmarks/calls.md"
DESCENT = Turn(
    question="What is gradient descent?",
    standalone="What is gradient descent?",
    answer="Gradient descent lowers the loss step by step: each step goes against the gradient [1].",
    sources=[],
)


@dataclass(frozen=True, kw_only=True)
class Way:
    """A question that takes one way through the graph."""

    name: str
    question: str
    turns: tuple[Turn, ...] = ()


WAYS = (
    Way(name="correct", question="What is gradient descent?"),
    Way(name="ambiguous", question="How does batch normalisation compare with layer normalisation?"),
    Way(name="incorrect", question="What is a Transformer architecture in deep learning?"),
    Way(name="follow-up", question="And what is its learning rate?", turns=(DESCENT,)),
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One path with one evaluator and one delay; times in milliseconds, `cpu` that of this process a question."""

    path: str
    evaluator: str
    delay: int
    verdict: str
    calls: int
    first_text: float
    median: float
    p95: float
    cpu: float


class FolderLibrary:
    """The documents of a folder in memory, found by the likeness of their vectors: search has its own table."""

    def __init__(self, embedder: Embedder, passages: Sequence[Passage], vectors: Vectors) -> None:
        self._embedder, self._passages, self._vectors = embedder, passages, vectors

    async def search(self, query: str, *, spaces: Sequence[str], limit: int) -> Retrieval:  # noqa: ARG002 (one space)
        (vector,) = await self._embedder.embed([query])
        best = np.argsort(-(self._vectors @ vector))[:limit]
        return Retrieval(passages=tuple(self._passages[index] for index in best))


def read_folder(folder: Path) -> dict[str, bytes]:
    """The files below `folder` that can be loaded."""
    return {file.name: file.read_bytes() for file in sorted(folder.rglob("*")) if supported(file.name)}


async def open_library(files: Mapping[str, bytes], embedder: LocalEmbedder) -> FolderLibrary:
    """The files as a library, with what the evaluator prepares at ingest."""
    passages = [passage for name, data in files.items() for passage in await _passages(name, data)]
    titles, places, texts = zip(*((p.title, p.location, p.text) for p in passages), strict=True)
    features = await Preparer(embedder).featurize(titles, places, texts)
    ready = [replace(passage, features=blob) for passage, blob in zip(passages, features, strict=True)]
    return FolderLibrary(embedder, ready, await embedder.embed(texts))


async def _passages(name: str, data: bytes) -> list[Passage]:
    document = await load(name, data)
    return [
        Passage(
            id=f"{name}-{chunk.ordinal}",
            kind=Kind.INTERNAL,
            document=name,
            source=name,
            title=document.title,
            text=chunk.text,
            location=location(chunk.headings, chunk.page),
            superseded=document.superseded,
        )
        for chunk in split(document)
    ]


@dataclass(frozen=True, kw_only=True)
class Took:
    """One run: milliseconds to the first text and to the whole answer."""

    first_text: float
    whole: float
    state: State


async def run(graph: Graph, services: Services, way: Way) -> Took:
    """One question, as it would be asked in a conversation with these turns."""
    policy, loop = Policy(), asyncio.get_running_loop()
    context = Context(services=services, policy=policy, today=date(2026, 7, 14), ends_at=loop.time() + policy.deadline)
    ask: State = {"question": way.question, "spaces": ("all",), "web_allowed": True, "turns": list(way.turns)}
    first_text, state = 0.0, State()
    mode: str
    event: Any
    started = time.perf_counter()
    async for mode, event in graph.astream(ask, context=context, stream_mode=["custom", "values"]):
        if mode == "values":
            state = event
        elif isinstance(event, TextDelta) and not first_text:
            first_text = time.perf_counter() - started
    return Took(first_text=1000 * first_text, whole=1000 * (time.perf_counter() - started), state=state)


async def measure(way: Way, services: Services, *, evaluator: str, delay: int, rounds: int) -> Row:
    """`rounds` questions one after the other, after one that warms connections and models up."""
    graph = build()
    await run(graph, services, way)
    cpu = time.process_time()
    took = [await run(graph, services, way) for _ in range(rounds)]
    cpu = 1000 * (time.process_time() - cpu) / rounds
    last = took[-1].state
    return Row(
        path=way.name,
        evaluator=evaluator,
        delay=delay,
        verdict="abstained" if last["answer"].abstained else last["verdict"].value,
        calls=len(last["calls"]),
        first_text=statistics.median(one.first_text for one in took),
        median=statistics.median(one.whole for one in took),
        p95=float(np.percentile([one.whole for one in took], 95)),
        cpu=cpu,
    )


async def measure_all(options: argparse.Namespace, files: Mapping[str, bytes]) -> list[Row]:
    """Every path with both evaluators and every delay."""
    embedder = LocalEmbedder()
    library = await open_library(files, embedder)
    web = TavilySearch(options.web_key, base_url=options.web)
    rows = []
    for delay, address in (one.split("=", 1) for one in options.chat):
        chat = ApiChat(base_url=address, api_key=options.key, model=options.model)
        evaluators: dict[str, Evaluator] = {"local": LocalEvaluator(embedder), "model": LlmEvaluator(chat)}
        for name, evaluator in evaluators.items():
            services = Services(library=library, evaluator=evaluator, writer=ApiWriter(chat), web=web)
            for way in WAYS:
                rows.append(await measure(way, services, evaluator=name, delay=int(delay), rounds=options.rounds))
                print(rows[-1])
        await chat.close()
    await web.close()
    return rows


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown."""
    lines = [
        "| path | evaluator | verdict | model calls | ms a call | first text, ms | answer, ms (median) | p95 | of it CPU |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row.path} | {row.evaluator} | {row.verdict} | {row.calls} | {row.delay} "
        f"| {row.first_text:.0f} | {row.median:.0f} | {row.p95:.0f} | {row.cpu:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


def report(rows: Sequence[Row], *, rounds: int, load: float) -> str:
    """The table with what one must know to read it; `load`: processes that wanted to run before it began."""
    return (
        "# Model calls and time of an answer\n\n"
        f"`{COMMAND}`\n\n"
        f"{rounds} questions a row, one after the other, on {os.cpu_count()} cores, Python {platform.python_version()}; "
        f"the machine's load before was {load:.1f}, so {'others were at work too' if load > 1 else 'it was quiet'}. "
        "The documents of `examples/` lie in memory; embeddings, evaluator, clients and the graph are real; the chat "
        "model and the web are local servers in a process of their own. Where others are at work too, the time of an "
        "answer includes waiting for a core; its CPU time does not: alone, an answer takes its model calls and that.\n\n"
        f"{table(rows)}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chat", action="append", required=True, help="DELAY=URL of a model server")
    parser.add_argument("--web", required=True, help="URL of a Tavily server")
    parser.add_argument("--key", default="sk-local")
    parser.add_argument("--model", default="local-chat")
    parser.add_argument("--web-key", default="tvly-local")
    parser.add_argument("--examples", type=Path, default=Path("examples"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    load, _, _ = os.getloadavg()
    rows = asyncio.run(measure_all(options, read_folder(options.examples)))
    text = report(rows, rounds=options.rounds, load=load)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
