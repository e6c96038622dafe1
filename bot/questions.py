"""What is asked, what is answered, and why a question may be refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.cleaning import clean
from crag_graph.domain import Answer, Fault, JudgedStrip, ModelCall, Passage, Score, Turn
from crag_graph.phrases import Phrase, amount

LONGEST_QUESTION = 40_000
"""Characters; Slack's own limit of a message."""


EMPTY = Phrase("The question is empty. Ask something.")
TOO_LONG = Phrase("The question has {number} characters; fewer than {most} are possible. Shorten it.")
TRY_SHORTLY = Phrase("Try again shortly.")


class QuestionError(ValueError):
    """The question cannot be asked as it is; the message says why, for the asker."""


class AnswerFailedError(Exception):
    """The question could not be answered; the message is fit for the asker, the rest is in the trace.

    `reason`: the same without the advice to try again. `transient`: another try may succeed.
    """

    def __init__(self, reason: str, *, trace_id: str, transient: bool) -> None:
        super().__init__(f"{reason} {TRY_SHORTLY()}" if transient else reason)
        self.reason = reason
        self.trace_id = trace_id
        self.transient = transient


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked, where, by whom, and what this place may see.

    `history` makes the question a one-off: these turns stand in for what `conversation` remembers, and
    nothing is remembered afterwards. `elsewhere` are spaces that the asker may see, but not this place.
    """

    text: str
    conversation: str
    spaces: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()
    chatter: tuple[str, ...] = ()
    heard: tuple[str, ...] = ()
    """Whose words the chatter is."""
    files_alone: bool = False
    """It is asked of the files that came with it, and of no library."""
    gist: bool = False
    """It asks what the documents of its spaces say as a whole."""
    web_allowed: bool = True
    web_wanted: bool | None = None
    """True: the web in any case. False: the library alone. None: the web where the library is not enough."""
    team: str = "local"
    channel: str = ""
    asker: str = ""
    permalink: str = ""
    history: tuple[Turn, ...] | None = None
    retakes: str = ""
    """A question of the conversation that is asked again: its turn is forgotten, and this one takes its place."""
    rerun_of: str = ""
    """The trace of which this is another try, by a reviewer."""


@dataclass(frozen=True, kw_only=True)
class JudgedPassage:
    """A passage of the library with its score, and whether it was good enough to go further."""

    passage: Passage
    score: Score
    kept: bool


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The answer and how it came about. `timings`: milliseconds by node, in the order they ran."""

    question: str
    """As it was answered: cleaned."""
    answer: Answer
    trace_id: str
    standalone: str
    web_query: str | None = None
    passages: tuple[JudgedPassage, ...] = ()
    strips: tuple[JudgedStrip, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    faults: tuple[Fault, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)


def check(text: str) -> str:
    """The cleaned question. Raises QuestionError where it is empty or too long."""
    question = clean(text).strip()
    if not question:
        raise QuestionError(EMPTY())
    if len(question) >= LONGEST_QUESTION:
        raise QuestionError(TOO_LONG(number=amount(len(question)), most=amount(LONGEST_QUESTION)))
    return question
