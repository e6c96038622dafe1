"""What the graph asks of the outside: four small protocols in one frozen bundle, and their few errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from crag_graph.domain import Conversation, Fault, JudgedStrip, ModelCall, Part, Passage, Score, Strip, Verdict


class ServiceError(Exception):
    """A service that the graph needs failed."""

    transient = False
    """Another try may succeed."""

    def __init__(self, detail: str = "", *, calls: tuple[ModelCall, ...] = ()) -> None:
        """`calls`: what was asked of a model before it failed (a reply that cannot be used has its price too)."""
        super().__init__(f"{self.__doc__} {detail}".strip())
        self.detail = detail
        self.calls = calls


class ModelBusyError(ServiceError):
    """The model did not answer: rate limit, server error, timeout or lost connection."""

    transient = True


class ModelRejectedError(ServiceError):
    """The model server rejects the request: wrong key, unknown model, or a prompt that is too long."""


class ModelReplyError(ServiceError):
    """The model's reply cannot be used: refused, cut off, or not in the form that was asked for."""


class WebBusyError(ServiceError):
    """The web search did not answer: timeout, server error or lost connection."""

    transient = True


class WebRejectedError(ServiceError):
    """The web search rejects the request: wrong key, plan used up, or a bad query."""


class LibraryError(ServiceError):
    """The library is not reachable."""

    transient = True


class OverdueError(ServiceError):
    """A service did not answer within the time that its node has."""

    transient = True


class TimeUpError(ServiceError):
    """The time for this question is up."""


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """Passages of the library, best first; `faults` says what was worked around (full text alone, …)."""

    passages: tuple[Passage, ...]
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One score per passage, in the order of the passages, and the same by part of the question.

    `scores[i].value` is the best that passage i reaches over the parts. A question that asks one thing
    has one part.
    """

    scores: tuple[Score, ...]
    parts: tuple[Part, ...]
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Filtering:
    """One score per strip, in the order of the strips; `keep[i]` says whether strip i helps.

    `by_part[i][p]`, where the evaluator knows it: how far strip i answers part p, in [0, 1].
    """

    scores: tuple[Score, ...]
    keep: tuple[bool, ...]
    by_part: tuple[tuple[float, ...], ...] = ()
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Standalone:
    """The question as it reads without its conversation.

    `summary` is the new running summary where the conversation asked for one (`overflow` was given).
    """

    question: str
    summary: str | None = None
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WebQuery:
    """Keywords for the web search, at most 400 characters."""

    query: str
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Source:
    """A numbered document in the brief and the strips of it that may be used, in source order."""

    number: int
    title: str
    strips: tuple[Strip, ...]


@dataclass(frozen=True, kw_only=True)
class Brief:
    """All that generation may use. A mark `[n]` in the draft points at the source with number n."""

    question: str
    """The question as asked, for tone and language."""
    standalone: str
    verdict: Verdict
    sources: tuple[Source, ...]
    conversation: Conversation
    today: date
    parts: tuple[str, ...] = ()
    """The things that the question asks, as the evaluator saw them; none: the question is one thing."""
    judged: tuple[JudgedStrip, ...] = ()
    """The strips of the sources as they were judged, before those that touch were joined."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The generated text with marks as numbered in the brief; `quoted` where it is made of quoted strips.

    `missing`: the parts of the question that the writer finds in no source, as far as it tells them. `unanswered`: that
    is the whole question, and nothing was written.
    """

    text: str
    quoted: bool = False
    missing: tuple[str, ...] = ()
    unanswered: bool = False
    calls: tuple[ModelCall, ...] = ()


class Library(Protocol):
    """The passages that a question may see."""

    async def search(self, query: str, *, spaces: Sequence[str], limit: int) -> Retrieval:
        """At most `limit` passages of `spaces`, best first."""


class Evaluator(Protocol):
    """Judges passages and strips; at most one model call a method, however many there are."""

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation: ...

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering: ...


class Writer(Protocol):
    """Words: the standalone question, the web query, the answer; at most one model call a method."""

    async def contextualize(
        self, question: str, conversation: Conversation, *, overflow: Sequence[str], today: date
    ) -> Standalone:
        """`overflow`: old turns that leave the memory now and belong into the summary, oldest first."""

    async def rewrite(self, standalone: str, conversation: Conversation, *, today: date) -> WebQuery: ...

    async def generate(self, brief: Brief, emit: Callable[[str], None]) -> Draft:
        """Writes the answer; `emit` is called with each piece of text as it comes."""


class WebSearch(Protocol):
    """The web beyond the library."""

    @property
    def available(self) -> bool:
        """False where no web search is set up."""

    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:
        """At most `limit` pages; `query` has at most 400 characters. Text is capped per page."""


@dataclass(frozen=True, kw_only=True)
class Services:
    """What a run may use. The spares take over when a model fails; without them the failure is raised."""

    library: Library
    evaluator: Evaluator
    writer: Writer
    web: WebSearch
    spare_evaluator: Evaluator | None = None
    spare_writer: Writer | None = None
