"""What one run learns, and which part of it the conversation remembers."""

from typing import Annotated, TypedDict

from langgraph.channels import UntrackedValue

from crag_graph.domain import Abstention, Answer, Fault, JudgedStrip, ModelCall, Part, Passage, Score, Turn, Verdict


class Ask(TypedDict):
    """What a run starts from. `turns` and `summary` only for a one-off history: else the memory has them."""

    question: str
    spaces: tuple[str, ...]
    """The spaces that this question may see."""
    elsewhere: tuple[str, ...]
    """Further spaces that the asker, but not this place, may see: only for the reason of an abstention."""
    chatter: tuple[str, ...]
    web_allowed: bool
    retakes: str
    """A question of the conversation whose turn this one takes the place of; empty: none."""
    files_alone: bool
    """The question is asked of the files that came with it, and of no library."""
    web_wanted: bool | None
    """The asker's wish: the web in any case, or not at all; None (or absent): where the library is not enough."""


class State(TypedDict, total=False):
    """Channels of the graph. Only `turns` and `summary` are checkpointed: the rest never leaves its run."""

    turns: list[Turn]
    summary: str

    question: Annotated[str, UntrackedValue]
    spaces: Annotated[tuple[str, ...], UntrackedValue]
    elsewhere: Annotated[tuple[str, ...], UntrackedValue]
    chatter: Annotated[tuple[str, ...], UntrackedValue]
    web_allowed: Annotated[bool, UntrackedValue]
    retakes: Annotated[str, UntrackedValue]
    files_alone: Annotated[bool, UntrackedValue]
    web_wanted: Annotated[bool | None, UntrackedValue]

    standalone: Annotated[str, UntrackedValue]
    passages: Annotated[tuple[Passage, ...], UntrackedValue]
    scores: Annotated[tuple[Score, ...], UntrackedValue]
    """One per passage, same order."""
    parts: Annotated[tuple[Part, ...], UntrackedValue]
    verdict: Annotated[Verdict, UntrackedValue]
    reason: Annotated[str, UntrackedValue]
    good: Annotated[tuple[Passage, ...], UntrackedValue]
    """Passages that may go further: score >= lower, none under `incorrect`."""
    web_missing: Annotated[Abstention | None, UntrackedValue]
    """WEB_OFF, WEB_NOT_ASKED or WEB_UNREACHABLE where the web was needed or wanted and was not asked."""
    web_query: Annotated[str, UntrackedValue]
    pages: Annotated[tuple[Passage, ...], UntrackedValue]
    strips: Annotated[tuple[JudgedStrip, ...], UntrackedValue]
    answer: Annotated[Answer, UntrackedValue]
    calls: Annotated[tuple[ModelCall, ...], UntrackedValue]
    faults: Annotated[tuple[Fault, ...], UntrackedValue]
