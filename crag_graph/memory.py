"""What a conversation remembers: turns within a budget, older ones in the summary; pure."""

from collections.abc import Sequence

from crag_graph.domain import Answer, CitedSource, Conversation, Turn
from crag_graph.state import State

_CHARACTERS_PER_TOKEN = 4


def turns(state: State) -> list[Turn]:
    """The turns that the run may use: without the latest one of the question that it asks again, if it does."""
    known, retaken = list(state.get("turns", ())), storable(state.get("retakes", ""))
    asked = [index for index, turn in enumerate(known) if retaken and turn["question"] == retaken]
    return [turn for index, turn in enumerate(known) if index not in asked[-1:]]


def conversation(state: State) -> Conversation:
    """What the state knows of the conversation, in the form that the writer gets."""
    return Conversation(
        turns=tuple(turns(state)),
        summary=state.get("summary", ""),
        chatter=tuple(state.get("chatter", ())),
    )


def split(known: Sequence[Turn], *, tokens: int) -> tuple[list[Turn], list[Turn]]:
    """The older turns that leave and the recent ones that fit into `tokens`; the last turn always stays."""
    room = tokens * _CHARACTERS_PER_TOKEN
    recent = len(known)
    while recent and (recent == len(known) or room >= _size(known[recent - 1])):
        recent -= 1
        room -= _size(known[recent])
    return list(known[:recent]), list(known[recent:])


def retold(turn: Turn) -> str:
    """A turn as a text that a summary can be made of: the question in its first line."""
    return f"Question: {' '.join(turn['question'].split())}\nAnswer: {turn['answer']}"


def remembered(state: State, answer: Answer) -> list[Turn]:
    """The turns of the conversation with the one that just ended."""
    turn = Turn(
        question=storable(state["question"]),
        standalone=storable(state.get("standalone", state["question"])),
        answer=storable(answer.text),
        sources=[
            CitedSource(
                mark=citation.mark,
                kind=str(citation.kind),
                title=storable(citation.title),
                source=storable(citation.source),
                location=storable(citation.location),
            )
            for citation in answer.citations
        ],
    )
    return [*turns(state), turn]


def storable(text: str) -> str:
    """Text that every checkpointer takes: without NUL bytes and lone surrogates."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _size(turn: Turn) -> int:
    return len(turn["question"]) + len(turn["standalone"]) + len(turn["answer"])
