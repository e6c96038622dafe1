"""The words of the product: what is found, judged, kept, cited and answered."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict


class Verdict(StrEnum):
    """Is what the library returned enough to answer the question?"""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"


class Kind(StrEnum):
    """Where a passage comes from: the company's own library, or the web."""

    INTERNAL = "internal"
    WEB = "web"


class Abstention(StrEnum):
    """Why there is no answer."""

    NOTHING_FOUND = "nothing_found"
    TOO_WEAK = "too_weak"
    NOT_VISIBLE_HERE = "not_visible_here"
    WEB_UNREACHABLE = "web_unreachable"
    WEB_OFF = "web_off"
    WEB_NOT_ASKED = "web_not_asked"
    """The asker wanted it so, or has not been asked."""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A piece of a document of the library, or a page of the web.

    `features` is what the local evaluator computed when the passage was ingested; it is opaque to
    everybody else, and None where nothing was prepared (web pages, another evaluator).
    """

    id: str
    kind: Kind
    document: str
    """Identity of the document: passages of one document share one citation number."""
    source: str
    """Path, URL or permalink that the document was ingested from."""
    title: str
    text: str
    location: str = ""
    """Heading path or page, as shown to people: `Leave › Parental leave`, `page 3`."""
    link: str | None = None
    """An http(s) address that a person may open."""
    superseded: bool = False
    """The document says that it was replaced, or lies in an archive."""
    newer: str = ""
    """Title of the newest edition of the document, where this is an older one."""
    features: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class Score:
    """How far a passage or strip helps with the question: `value` in [0, 1], never without a reason."""

    value: float
    reason: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """One thing that the question asks, and how far each passage answers it (same order as the passages)."""

    text: str
    scores: tuple[Score, ...]


@dataclass(frozen=True, kw_only=True)
class Strip:
    """A run of two or three sentences of a passage: the unit that is kept, dropped and quoted.

    `start` and `end` are character offsets into the passage's text. `context` is what a reader needs
    before the text (heading path, lead-in of a list, header of a table); it is never quoted.
    """

    passage: Passage
    start: int
    end: int
    context: str = ""

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True, kw_only=True)
class JudgedStrip:
    """A strip with its score, and whether it was kept for generation."""

    strip: Strip
    score: Score
    kept: bool
    by_part: tuple[float, ...] = ()
    """How far it answers each part of the question, in [0, 1]; empty where the evaluator sees no parts in strips."""


@dataclass(frozen=True, kw_only=True)
class Citation:
    """What a mark in the answer points at; `quote` is text that was really used."""

    mark: int
    kind: Kind
    title: str
    source: str
    location: str
    quote: str
    link: str | None = None
    superseded: bool = False
    newer: str = ""
    """As in the passage that is quoted."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the asker gets: a cited answer, or an abstention that says why and what to do next."""

    text: str
    verdict: Verdict
    reason: str
    """Why this verdict, in plain words."""
    citations: tuple[Citation, ...] = ()
    abstention: Abstention | None = None
    quoted: bool = False
    """Made of sentences quoted from the sources, without a chat model."""
    notice: str = ""
    """What the asker must know about how it was made: the web was not reachable, a model was away."""

    @property
    def abstained(self) -> bool:
        return self.abstention is not None


class CitedSource(TypedDict):
    """A source that a remembered answer cited."""

    mark: int
    kind: str
    title: str
    source: str
    location: str


class Turn(TypedDict):
    """One question and its answer as a conversation remembers it: plain data, so that old checkpoints load."""

    question: str
    standalone: str
    answer: str
    sources: list[CitedSource]


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """What the conversation so far gives to rewriting: remembered turns and what people said in between."""

    turns: tuple[Turn, ...] = ()
    summary: str = ""
    """The turns that no longer fit, in short."""
    chatter: tuple[str, ...] = ()
    """What people wrote in the thread between two answers, oldest first, as `Name: text`."""

    @property
    def empty(self) -> bool:
        return not (self.turns or self.summary or self.chatter)


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One request to a model, for the trace. Tokens are 0 where the server did not count."""

    role: str
    """The node that asked: contextualize, evaluate, rewrite, refine, generate."""
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    milliseconds: float = 0.0
    prompt: str = ""
    reply: str = ""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something that failed and was worked around; kept in the trace."""

    where: str
    kind: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Progress: a node has begun."""

    node: str
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class TextDelta:
    """Progress: the answer grew by this text; its marks are final."""

    text: str


@dataclass(frozen=True, kw_only=True)
class TextRestart:
    """Progress: the answer starts over; what was shown so far does not count."""


Progress = Stage | TextDelta | TextRestart
