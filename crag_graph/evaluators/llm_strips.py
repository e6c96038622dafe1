"""Asks a model which strips an answer needs, and reads what it says."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from crag_graph.chat import ChatReply, Message, object_schema
from crag_graph.domain import Kind, Strip
from crag_graph.evaluators.llm_reading import label_in, number_in
from crag_graph.fence import fence
from crag_graph.services import ModelReplyError

_PROMPT = """\
You choose which excerpts a writer needs to answer a question. You do not answer it.
- Keep an excerpt that states a part of the answer, a condition or exception to it, or what it refers to.
- Keep its neighbour where an excerpt needs it to be understood ("It applies …" needs the sentence that says what).
- Drop what is about something else. When in doubt keep: a lost answer costs more than a sentence too many.

Reply with JSON only: {"keep": ["S1", "S3"]}, or {"keep": []} where nothing helps."""
SCHEMA = object_schema("strips", keep={"type": "array", "items": {"type": "string"}})
_NAME = re.compile(r"\bS\d+\b")
_REFERS_BACK = re.compile(
    r"\W*(?:it|its|they|their|them|this|that|these|those|he|she|such|the latter)\b", re.IGNORECASE
)


def in_order(strips: Sequence[Strip]) -> list[int]:
    """Places of the strips: those of one passage side by side in source order, passages in the order of their texts."""
    return sorted(
        range(len(strips)),
        key=lambda place: (
            strips[place].passage.text,
            strips[place].passage.id,
            strips[place].start,
            strips[place].end,
        ),
    )


def request(question: str, strips: Sequence[Strip]) -> list[Message]:
    """The messages for strips in order, which are numbered from 1."""
    marked = fence([question, *(strip.text for strip in strips)])
    pieces = []
    for _, together in groupby(enumerate(strips, 1), key=lambda numbered: numbered[1].passage.id):
        numbered = list(together)
        pieces.append("From a web page:" if numbered[0][1].passage.kind is Kind.WEB else "From a document:")
        pieces += [marked.around(_shown(strip), label=f"S{number}") for number, strip in numbered]
    user = f"Question:\n{marked.around(question)}\n\nExcerpts:\n\n" + "\n".join(pieces)
    return [("system", f"{_PROMPT}\n\n{marked.rule}"), ("user", user)]


def chosen(reply: ChatReply, count: int) -> set[int]:
    """The numbers of the strips to keep; ModelReplyError where the reply names none of ours and does not say none."""
    names = _names(reply)
    numbers = {number for name in names or () if (number := number_in(name, count)) is not None}
    if names is None or (names and not numbers):
        raise ModelReplyError("It names no excerpts.", calls=(reply.call,))
    return numbers


def carriers(strips: Sequence[Strip], numbers: set[int]) -> set[int]:
    """Numbers of strips right before a chosen one of the same passage that begins with a word that refers back."""
    return {
        number
        for number, (strip, following) in enumerate(pairwise(strips), 1)
        if number + 1 in numbers and number not in numbers
        if strip.passage.id == following.passage.id and _REFERS_BACK.match(following.text)
    }


def _shown(strip: Strip) -> str:
    return f"({strip.context})\n{strip.text}" if strip.context else strip.text


def _names(reply: ChatReply) -> Iterable[object] | None:
    """What the reply lists; nothing where it says that nothing helps; None where it says neither."""
    if reply.data is not None:
        listed = reply.data.get("keep")
        return listed if isinstance(listed, list) else None
    named = _NAME.findall(reply.text)
    return named if named or label_in(reply.text) == "none" else None
