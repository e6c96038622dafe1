"""The four services of the graph, scripted: enough to run it in a test or a notebook."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import count

from crag_graph.domain import Conversation, Fault, Kind, ModelCall, Part, Passage, Score, Strip
from crag_graph.services import Brief, Draft, Evaluation, Filtering, Retrieval, Standalone, WebQuery

Troubles = Sequence[Exception | float]
"""What the next calls meet, one each: an error that is raised, or seconds that pass first."""

_ids = count(1)


def passage(text: str, *, title: str = "", document: str = "", kind: Kind = Kind.INTERNAL, link: str = "") -> Passage:
    """A passage of the document `document`, by default of one of its own."""
    number = next(_ids)
    name = document or title or f"document-{number}"
    return Passage(
        id=f"passage-{number}",
        kind=kind,
        document=name,
        source=link or f"{name}.md",
        title=title or name,
        text=text,
        link=link or None,
    )


def page(text: str, *, title: str = "", link: str = "https://pages.example/article") -> Passage:
    """A page of the web."""
    return passage(text, title=title or link, document=link, kind=Kind.WEB, link=link)


@dataclass(kw_only=True)
class Trouble:
    """What goes wrong, by method."""

    ahead: dict[str, list[Exception | float]] = field(default_factory=dict)

    async def meet(self, method: str) -> None:
        waiting = self.ahead.get(method)
        if not waiting:
            return
        trouble = waiting.pop(0)
        if isinstance(trouble, Exception):
            raise trouble
        await asyncio.sleep(trouble)


def trouble(**by_method: Troubles) -> Trouble:
    return Trouble(ahead={method: list(troubles) for method, troubles in by_method.items()})


@dataclass(kw_only=True)
class ScriptedLibrary:
    """Finds, whatever is asked, the passages of the spaces that may be seen, as they are listed here."""

    spaces: Mapping[str, Sequence[Passage]]
    faults: tuple[Fault, ...] = ()
    trouble: Trouble = field(default_factory=Trouble)
    queries: list[str] = field(default_factory=list)

    async def search(self, query: str, *, spaces: Sequence[str], limit: int) -> Retrieval:
        self.queries.append(query)
        await self.trouble.meet("search")
        found = [one for space in spaces for one in self.spaces.get(space, ())]
        return Retrieval(passages=tuple(found[:limit]), faults=self.faults)


@dataclass(kw_only=True)
class ScriptedEvaluator:
    """Scores what contains a phrase: a passage gets the score of the first phrase that it holds, else 0.

    `parts` gives such phrases for each part of the question. A strip is kept if it holds one of `keep`;
    without `keep`, every strip is.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    keep: Sequence[str] | None = None
    trouble: Trouble = field(default_factory=Trouble)
    calls: tuple[ModelCall, ...] = ()
    questions: list[str] = field(default_factory=list)
    filtered: list[tuple[Strip, ...]] = field(default_factory=list)

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        self.questions.append(question)
        await self.trouble.meet("evaluate")
        parts = tuple(
            Part(text=text, scores=tuple(_score(passage.text, phrases) for passage in passages))
            for text, phrases in (self.parts or {question: self.scores}).items()
        )
        best = [max(scores, key=lambda score: score.value) for scores in zip(*(p.scores for p in parts), strict=True)]
        return Evaluation(scores=tuple(best), parts=parts, calls=self.calls)

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        self.filtered.append(tuple(strips))
        await self.trouble.meet("filter")
        keep = tuple(self.keep is None or any(phrase in strip.text for phrase in self.keep) for strip in strips)
        scores = tuple(Score(value=0.9 if kept else 0.1, reason="as scripted") for kept in keep)
        return Filtering(scores=scores, keep=keep, calls=self.calls)


def _score(text: str, phrases: Mapping[str, float]) -> Score:
    return next(
        (Score(value=value, reason=f"it says “{phrase}”") for phrase, value in phrases.items() if phrase in text),
        Score(value=0.0, reason="nothing of it is there"),
    )


def quote_all(brief: Brief) -> str:
    """An answer that repeats every strip with its mark."""
    return " ".join(f"{strip.text} [{source.number}]" for source in brief.sources for strip in source.strips)


@dataclass(kw_only=True)
class ScriptedWriter:
    """Writes what it is told to, in small pieces; `briefs` and the like record what it was asked.

    `standalone` maps questions to how they read alone. Trouble in `generate` comes after half of the text. `missing` is
    what it finds in no source; without an `answer`, that is all.
    """

    answer: str | Callable[[Brief], str] = quote_all
    standalone: Mapping[str, str] = field(default_factory=dict)
    summary: str | None = "They talked."
    web_query: str = "scripted keywords"
    quoted: bool = False
    missing: tuple[str, ...] = ()
    name: str = "scripted"
    piece: int = 7
    trouble: Trouble = field(default_factory=Trouble)
    conversations: list[Conversation] = field(default_factory=list)
    overflows: list[tuple[str, ...]] = field(default_factory=list)
    rewritten: list[tuple[str, Conversation, date]] = field(default_factory=list)
    briefs: list[Brief] = field(default_factory=list)

    async def contextualize(
        self, question: str, conversation: Conversation, *, overflow: Sequence[str], today: date
    ) -> Standalone:
        self.conversations.append(conversation)
        self.overflows.append(tuple(overflow))
        await self.trouble.meet("contextualize")
        summary = self.summary if overflow else None
        return Standalone(
            question=self.standalone.get(question, question), summary=summary, calls=self._call("contextualize")
        )

    async def rewrite(self, standalone: str, conversation: Conversation, *, today: date) -> WebQuery:
        self.rewritten.append((standalone, conversation, today))
        await self.trouble.meet("rewrite")
        return WebQuery(query=self.web_query, calls=self._call("rewrite"))

    async def generate(self, brief: Brief, emit: Callable[[str], None]) -> Draft:
        self.briefs.append(brief)
        text = self.answer if isinstance(self.answer, str) else self.answer(brief)
        half = len(text) // 2
        self._emit(text[:half], emit)
        await self.trouble.meet("generate")
        self._emit(text[half:], emit)
        return Draft(
            text=text,
            quoted=self.quoted,
            missing=self.missing,
            unanswered=not text and bool(self.missing),
            calls=self._call("generate"),
        )

    def _emit(self, text: str, emit: Callable[[str], None]) -> None:
        for start in range(0, len(text), self.piece):
            emit(text[start : start + self.piece])

    def _call(self, role: str) -> tuple[ModelCall, ...]:
        return () if self.quoted else (ModelCall(role=role, model=self.name),)


@dataclass(kw_only=True)
class ScriptedWeb:
    """Finds these pages, whatever the query; `queries` records what left for the web."""

    pages: Sequence[Passage] = ()
    available: bool = True
    trouble: Trouble = field(default_factory=Trouble)
    queries: list[str] = field(default_factory=list)

    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:
        self.queries.append(query)
        await self.trouble.meet("search")
        return tuple(self.pages[:limit])
