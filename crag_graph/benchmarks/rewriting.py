"""Does the standalone question find what the follow-up as asked does not? Recall in the labelled conversations.

    python -m crag_graph.benchmarks.rewriting --data DATA [--chat-url URL --chat-model NAME] [--output FILE]

DATA holds `mtrag_un/` and the `enterprise_*/` folders.
"""

import argparse
import asyncio
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crag_graph.benchmarks.cases import ENTERPRISE, enterprise
from crag_graph.domain import Conversation, Turn
from crag_graph.embedding import Embedder, Vectors
from crag_graph.knowledge.search import Breadth
from crag_graph.knowledge.statements import FUSION
from crag_graph.knowledge.words import words_of
from crag_graph.models.chat_api import ApiWriter
from crag_graph.models.chat_client import ApiChat
from crag_graph.models.chat_extractive import ExtractiveWriter
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.services import ServiceError, Writer

LIMIT = 8
"""Passages that a question retrieves."""
CANDIDATES = Breadth().candidates
"""Passages that each way hands to the fusion, as in the product's search."""
SATURATION, LENGTH_WEIGHT = 1.2, 0.75
"""The usual constants of BM25 (Robertson and Zaragoza, 2009)."""
TODAY = date(2025, 10, 1)

Scores = NDArray[np.float64]
"""Shape (passages,)."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A last question, what was said before it, and the documents that it needs."""

    question: str
    conversation: Conversation
    needed: frozenset[str]
    by_hand: str | None = None
    """The question as a person rewrote it to stand alone."""


@dataclass(frozen=True, kw_only=True)
class CaseSet:
    """Cases over one collection; `passages` are pairs of a document's name and a text."""

    name: str
    passages: Sequence[tuple[str, str]]
    cases: Sequence[Case]


def mtrag(folder: Path) -> CaseSet:
    """Human conversations with the passages that hold the answer; all passages of all tasks are the collection."""
    tasks = list(_json_lines(folder / "reference_first250.jsonl"))
    passages = {context["document_id"]: context["text"] for task in tasks for context in task["contexts"]}
    cases = [
        Case(
            question=task["input"][-1]["text"].strip(),
            conversation=conversation([(said["speaker"] == "user", said["text"]) for said in task["input"][:-1]]),
            needed=frozenset(context["document_id"] for context in task["contexts"]),
        )
        for task in tasks
        if task["contexts"] and len(task["input"]) > 1
    ]
    return CaseSet(name="mtrag_un", passages=list(passages.items()), cases=cases)


def follow_ups(folder: Path) -> CaseSet:
    """The follow-ups of an invented organisation, over its documents as the product splits them."""
    collection = enterprise(folder)
    cases = [
        Case(
            question=asked["question"],
            conversation=conversation([(said["role"] == "user", said["content"]) for said in asked["conversation"]]),
            needed=frozenset(asked["gold_docs"]),
            by_hand=asked["standalone"],
        )
        for asked in (question.raw for question in collection.questions)
        if asked["conversation"] and asked["gold_docs"]
    ]
    passages = [
        (passage.document, f"{passage.title} › {passage.location}\n{passage.text}") for passage in collection.passages
    ]
    return CaseSet(name=collection.name, passages=passages, cases=cases)


def conversation(said: Sequence[tuple[bool, str]]) -> Conversation:
    """From messages (was it the asker?, text), oldest first, to what a conversation remembers."""
    turns: list[Turn] = []
    for by_asker, text in said:
        if by_asker:
            turns.append(Turn(question=text.strip(), standalone=text.strip(), answer="", sources=[]))
        elif turns:
            turns[-1]["answer"] = f"{turns[-1]['answer']} {text}".strip()
    return Conversation(turns=tuple(turns))


class Index:
    """BM25 and vectors over passages, in memory."""

    def __init__(self, passages: Sequence[tuple[str, str]], vectors: Vectors) -> None:
        self._names = [name for name, _ in passages]
        self._vectors = vectors
        bags = [Counter(words_of(text)) for _, text in passages]
        self._lengths = np.array([sum(bag.values()) for bag in bags], dtype=float)
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, bag in enumerate(bags):
            for word, count in bag.items():
                self._postings.setdefault(word, []).append((number, count))

    def by_words(self, query: str) -> Scores:
        """BM25 score of every passage."""
        scores = np.zeros(len(self._names))
        norms = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * self._lengths / self._lengths.mean())
        for word in words_of(query):
            postings = self._postings.get(word, [])
            weight = math.log(1 + (len(self._names) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, count in postings:
                scores[number] += weight * count * (SATURATION + 1) / (count + norms[number])
        return scores

    def by_meaning(self, vector: Vectors) -> Scores:
        """Cosine of every passage."""
        return np.asarray(self._vectors @ vector, dtype=float)

    def recall(self, needed: frozenset[str], scores: Scores) -> float:
        """Share of the needed documents that the first LIMIT passages come from."""
        found = {self._names[number] for number in np.argsort(-scores, kind="stable")[:LIMIT]}
        return len(needed & found) / len(needed)


def fused(*rankings: Scores) -> Scores:
    """Reciprocal rank fusion of several scorings, with the product's constant and its number of candidates."""
    places = np.stack([np.argsort(np.argsort(-scores, kind="stable")) + 1 for scores in rankings])
    found = (places <= CANDIDATES) & (np.stack(rankings) > 0)
    return np.asarray(np.where(found, 1 / (FUSION + places), 0.0).sum(axis=0))


async def rewritten(writer: Writer, case: Case) -> str:
    """The standalone question; as in the product, earlier turns were rewritten before it."""
    turns: list[Turn] = []
    for turn in case.conversation.turns:
        turns.append({**turn, "standalone": await _standalone(writer, turn["question"], turns)})
    return await _standalone(writer, case.question, turns)


async def _standalone(writer: Writer, question: str, turns: Sequence[Turn]) -> str:
    """A model that fails leaves the question as asked."""
    try:
        standalone = await writer.contextualize(question, Conversation(turns=tuple(turns)), overflow=(), today=TODAY)
    except ServiceError as error:
        print(f"{error} The question stays as it is.", file=sys.stderr)
        return question
    return standalone.question


async def measure(cases: CaseSet, writers: Mapping[str, Writer], embedder: Embedder) -> list[str]:
    """The rows of the table for one set."""
    index = Index(cases.passages, await embedder.embed([text for _, text in cases.passages]))
    spellings = {
        "as asked": [case.question for case in cases.cases],
        "all that the asker said": [_all_said(case) for case in cases.cases],
    }
    for name, writer in writers.items():
        spellings[name] = [await rewritten(writer, case) for case in cases.cases]
    if all(case.by_hand for case in cases.cases):
        spellings["by hand"] = [str(case.by_hand) for case in cases.cases]
    return [await _row(cases, index, embedder, name, questions) for name, questions in spellings.items()]


async def _row(cases: CaseSet, index: Index, embedder: Embedder, name: str, questions: Sequence[str]) -> str:
    vectors = await embedder.embed(questions)
    recalls = []
    for case, question, vector in zip(cases.cases, questions, vectors, strict=True):
        words, meaning = index.by_words(question), index.by_meaning(vector)
        recall = partial(index.recall, case.needed)
        recalls.append((recall(words), recall(meaning), recall(fused(words, meaning))))
    means = " | ".join(f"{value:.3f}" for value in np.mean(recalls, axis=0))
    changed = sum(question != case.question for question, case in zip(questions, cases.cases, strict=True))
    return f"| {cases.name} ({len(cases.cases)}) | {name} | {means} | {changed} |"


def _all_said(case: Case) -> str:
    return " ".join([*(turn["question"] for turn in case.conversation.turns), case.question])


def _json_lines(path: Path) -> Iterator[Any]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def read_sets(data: Path) -> list[CaseSet]:
    """The labelled conversations under `data`."""
    return [mtrag(data / "mtrag_un"), *(follow_ups(data / name) for name in ENTERPRISE)]


async def table(sets: Sequence[CaseSet], writers: Mapping[str, Writer]) -> str:
    """The Markdown table over the sets."""
    embedder = LocalEmbedder()
    rows = [row for cases in sets for row in await measure(cases, writers, embedder)]
    return "\n".join(["| set (n) | question | words | meaning | both | changed |", "|---|---|---|---|---|---|", *rows])


def report(rows: str, models: Sequence[str]) -> str:
    options = "".join(f" --chat-url URL --chat-model {model}" for model in models)
    return (
        "# Follow-ups rewritten to stand alone\n\n"
        f"`python -m crag_graph.benchmarks.rewriting --data DATA{options} --output benchmarks/rewriting.md`\n\n"
        f"Share of the passages (mtrag_un) or documents (enterprise sets) that the last question of a conversation needs "
        f"among the {LIMIT} best passages: by words (BM25), by meaning (MiniLM) and by both (ranks fused). `changed`: "
        "how many questions were rewritten at all. Earlier turns were rewritten before, as in the product.\n\n"
        f"{rows}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--chat-url", help="base URL of an OpenAI-compatible server")
    parser.add_argument("--chat-model", default="")
    parser.add_argument("--chat-key", default="none")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    writers: dict[str, Writer] = {"rules": ExtractiveWriter()}
    if options.chat_url:
        chat = ApiChat(base_url=options.chat_url, api_key=options.chat_key, model=options.chat_model, timeout=120)
        writers[options.chat_model] = ApiWriter(chat)
    text = report(asyncio.run(table(read_sets(options.data), writers)), [name for name in writers if name != "rules"])
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
