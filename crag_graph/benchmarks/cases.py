"""Labelled questions over collections of passages: what the evaluator is trained on and measured with."""

import csv
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from crag_graph.domain import Kind, Passage, Verdict
from crag_graph.knowledge.documents import LoadedDocument
from crag_graph.knowledge.editions import edition_of
from crag_graph.knowledge.library import location
from crag_graph.knowledge.loaders.html import load_html
from crag_graph.knowledge.loaders.markdown import load_markdown
from crag_graph.knowledge.loaders.text import load_text
from crag_graph.knowledge.split import split
from crag_graph.knowledge.superseded import is_superseded
from crag_graph.strips import decompose

ENTERPRISE = ("enterprise_dev", "enterprise_saas", "enterprise_city")
ARES = ("nq", "hotpotqa", "wow", "multirc")
"""The sets whose questions are questions; fever has claims, record has gaps."""
_WORD = re.compile(r"\w+")
TODAY = date(2025, 10, 1)
"""The day on which the organisations' questions are asked."""
_LOADERS = {".html": load_html, ".md": load_markdown, ".txt": load_text}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A strip that holds the answer, or a quote of it: number of the passage and character span in its text."""

    passage: int
    start: int
    end: int
    quote: int = 0
    """Which of the question's quotes: those of different numbers answer different parts."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question and what its collection holds for it. `group` is the kind of question, for the tables."""

    text: str
    verdict: Verdict
    group: str
    evidence: tuple[Evidence, ...] = ()
    raw: Any = None


@dataclass(frozen=True, kw_only=True)
class Collection:
    """A library and the questions over it."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]


def enterprise(folder: Path) -> Collection:
    """An invented organisation: its documents split as the product splits them."""
    passages = _with_newer_editions(tuple(_documents(folder)))
    traits = folder / "traits.json"
    groups = {key: value["group"] for key, value in _json(traits).items()} if traits.exists() else {}
    questions = []
    for asked in _lines(folder / "questions.jsonl"):
        tagged = [tag[2:] for tag in asked["tags"] if tag.startswith("g:")]
        questions.append(
            Question(
                text=asked["standalone"],
                verdict=Verdict(asked["verdict"]),
                group=groups.get(asked["id"]) or (tagged[0] if tagged else asked["type"]),
                evidence=tuple(_quoted(asked, passages)),
                raw=asked,
            )
        )
    return Collection(name=folder.name, passages=passages, questions=tuple(questions))


def ares(folder: Path, name: str, *, most: int = 2_000) -> Collection:
    """Questions that a model wrote for Wikipedia and other passages; kept where the answer is found in a strip."""
    csv.field_size_limit(sys.maxsize)
    numbers: dict[str, int] = {}
    answers: dict[tuple[int, str], str] = {}
    with (folder / f"{name}_synthetic_queries.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            text = row["document"].strip()
            if row["Context_Relevance_Label"] != "Yes" or not 80 <= len(text) <= 1_600:
                continue
            number = numbers.setdefault(text, len(numbers))
            if row["Answer_Faithfulness_Label"] == row["Answer_Relevance_Label"] == "Yes":
                answers[number, row["synthetic_query"]] = row["generated_answer"]
    passages = tuple(_passage(str(number), text) for text, number in numbers.items())
    questions = (_located(text, passages, number, answer) for (number, text), answer in list(answers.items())[:most])
    return Collection(name=f"ares_{name}", passages=passages, questions=tuple(q for q in questions if q.evidence))


def own(file: Path) -> Collection:
    """A library with its questions in place, as benchmarks/training/README.md says."""
    documents: list[list[str]] = []
    asked: list[tuple[bool, str, str]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(("? ", "! ")):
            asked.append((line[0] == "?", line[2:], documents[-1][-1]))
        elif line.startswith("# "):
            documents.append([line])
        elif line:
            documents[-1].append(line)
    passages = tuple(
        passage
        for number, lines in enumerate(documents)
        for passage in _chunks(f"{file.stem}-{number}", load_markdown(f"{number}.md", "\n\n".join(lines).encode()))
    )
    questions = []
    for answered, text, block in asked:
        places = [(n, passage.text.find(block)) for n, passage in enumerate(passages)] if answered else []
        evidence = tuple(Evidence(passage=n, start=start, end=start + len(block)) for n, start in places if start >= 0)
        verdict = Verdict.CORRECT if answered else Verdict.INCORRECT
        questions.append(
            Question(text=text, verdict=verdict, group="single" if answered else "near", evidence=evidence)
        )
    return Collection(name=f"own_{file.stem}", passages=passages, questions=tuple(questions))


def xquad(folder: Path) -> Collection:
    """Paragraphs of 24 Wikipedia articles with questions and answer spans; group is the article."""
    passages: list[Passage] = []
    questions: list[Question] = []
    for article in _json(folder / "xquad.en.first24articles.json")["data"]:
        title = article.get("title", "") or article["paragraphs"][0]["context"][:40]
        for paragraph in article["paragraphs"]:
            number = len(passages)
            passages.append(_passage(f"{title}-{number}", paragraph["context"]))
            for asked in paragraph["qas"]:
                start = asked["answers"][0]["answer_start"]
                span = Evidence(passage=number, start=start, end=start + len(asked["answers"][0]["text"]))
                questions.append(
                    Question(text=asked["question"], verdict=Verdict.CORRECT, group=title, evidence=(span,))
                )
    return Collection(name="xquad", passages=tuple(passages), questions=tuple(questions))


def clapnq(folder: Path) -> Collection:
    """Real questions, each with a passage of the right page: half of them answer it, with sentences marked."""
    passages: list[Passage] = []
    questions: list[Question] = []
    for kind, verdict in (("answerable", Verdict.CORRECT), ("unanswerable", Verdict.INCORRECT)):
        for asked in _lines(folder / f"clapnq_dev_{kind}_first150.jsonl"):
            page = asked["passages"][0]
            passage = _passage(str(len(passages)), page["text"], page["title"])
            passages.append(passage)
            marked = [
                sentence for answer in asked.get("output", []) for sentence in answer.get("selected_sentences", [])
            ]
            spans = [(page["text"].find(sentence), len(sentence)) for sentence in marked if sentence]
            questions.append(
                Question(
                    text=asked["input"],
                    verdict=verdict,
                    group=kind,
                    evidence=tuple(
                        Evidence(passage=len(passages) - 1, start=start, end=start + length)
                        for start, length in spans
                        if start >= 0
                    ),
                    raw=len(passages) - 1,
                )
            )
    return Collection(name="clapnq", passages=tuple(passages), questions=tuple(questions))


def pubmedqa(folder: Path, *, most: int = 300) -> Collection:
    """Biomedical questions, each answered by the sections of one abstract whose conclusion is left out."""
    passages: list[Passage] = []
    questions: list[Question] = []
    for name, asked in list(_json(folder / "ori_pqal.json").items())[:most]:
        sections = zip(asked["LABELS"], asked["CONTEXTS"], strict=True)
        own = [_passage(f"{name}-{place}", text, label) for place, (label, text) in enumerate(sections)]
        evidence = tuple(
            Evidence(passage=number, start=0, end=len(passage.text))
            for number, passage in enumerate(own, len(passages))
        )
        passages += own
        questions.append(Question(text=asked["QUESTION"], verdict=Verdict.CORRECT, group=name, evidence=evidence))
    return Collection(name="pubmedqa", passages=tuple(passages), questions=tuple(questions))


def _documents(folder: Path) -> Iterator[Passage]:
    for path in sorted(folder.glob("docs/**/*.*")):
        name = str(path.relative_to(folder))
        yield from _chunks(name, _LOADERS[path.suffix](name, path.read_bytes()))


def _chunks(name: str, document: LoadedDocument) -> Iterator[Passage]:
    superseded = is_superseded(document, today=TODAY)
    for chunk in split(document):
        yield Passage(
            id=f"{name}#{chunk.ordinal}",
            kind=Kind.INTERNAL,
            document=name,
            source=name,
            title=document.title,
            text=chunk.text,
            location=location(chunk.headings, chunk.page),
            superseded=superseded,
        )


def _with_newer_editions(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    newest: dict[str, tuple[str, str]] = {}
    for passage in passages:
        told = edition_of(passage.title)
        newest[told.family] = max(newest.get(told.family, ("", "")), (told.order, passage.title))
    return tuple(
        replace(passage, newer=newest[told.family][1])
        if (told := edition_of(passage.title)).order < newest[told.family][0] and told.family
        else passage
        for passage in passages
    )


def _quoted(asked: Any, passages: Sequence[Passage]) -> Iterator[Evidence]:
    """The strips with nearly all words of a gold quote; a table row is stored with its header in each cell."""
    documents = {*asked["gold_docs"], *asked["also_ok"]}
    for number, passage in enumerate(passages):
        if passage.document not in documents:
            continue
        for strip in decompose(passage):
            held = _words(f"{passage.title} {passage.location} {strip.text}")
            for which, quote in enumerate(asked["gold_quote"]):
                quoted = _words(quote)
                if quoted and len(quoted & held) >= 0.8 * len(quoted):
                    yield Evidence(passage=number, start=strip.start, end=strip.end, quote=which)


def _located(text: str, passages: Sequence[Passage], number: int, answer: str) -> Question:
    found = re.search(rf"(?<!\w){re.escape(answer.strip())}(?!\w)", passages[number].text) if answer.strip() else None
    evidence = (Evidence(passage=number, start=found.start(), end=found.end()),) if found else ()
    return Question(text=text, verdict=Verdict.CORRECT, group="", evidence=evidence)


def _passage(name: str, text: str, title: str = "") -> Passage:
    return Passage(id=name, kind=Kind.INTERNAL, document=name, source=name, title=title, text=text)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _lines(path: Path) -> Iterator[Any]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
