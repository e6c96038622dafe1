"""Asks a model how far passages answer the parts of a question, and reads what it says."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crag_graph.chat import ChatReply, Message, object_schema, strict_object
from crag_graph.domain import Passage
from crag_graph.evaluators.llm_reading import LABELS, label_in, number_in, texts_in
from crag_graph.fence import fence
from crag_graph.services import ModelReplyError

_PROMPT = """\
You judge whether passages of a library answer a question. You do not answer it.
1. Split the question into the things it asks, in its own words. Most questions ask one thing. A comparison asks one
   thing about each side.
2. For every passage say in a few words which of this it states, naming the evidence; then give one label for each
   part of the question:
   "full"    the passage states the answer to this part, with the value, name, step or reason that is asked for
   "partial" the passage states some of the answer, or the answer under another condition than asked
   "none"    the passage does not state it, even if it is on the same topic
A passage on the right topic without the asked fact is "none". Judge each passage by itself; order means nothing.

Example: question "How many days of parental leave do I get, and is it paid?"
{"parts": ["how many days of parental leave", "is parental leave paid"],
 "passages": [{"id": "P1", "reason": "names 60 days of parental leave, nothing on pay", "labels": ["full", "none"]},
              {"id": "P2", "reason": "on sick leave only", "labels": ["none", "none"]}]}

Reply with JSON only, in this form, with every passage once."""
SCHEMA = object_schema(
    "evaluation",
    parts={"type": "array", "items": {"type": "string"}},
    passages={
        "type": "array",
        "items": strict_object(
            id={"type": "string"},
            reason={"type": "string"},
            labels={"type": "array", "items": {"type": "string", "enum": list(LABELS)}},
        ),
    },
)
_CHARACTERS = 4_000
"""A passage of the library has about 900; a web page may have more than a judge needs."""
_PARTS = 6
"""Parts of a question that count; a model that runs wild lists dozens."""
_LINE = re.compile(r"\W*(P?\d+)\W+(.+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What the model said of one passage: a label for each part."""

    reason: str
    labels: tuple[str, ...]

    def label(self, part: int) -> str:
        """The label for a part; one label alone holds for all parts."""
        if part < len(self.labels):
            return self.labels[part]
        return self.labels[0] if len(self.labels) == 1 else LABELS[0]


@dataclass(frozen=True, kw_only=True)
class Judgements:
    """The parts of the question in the model's words (none: it is one thing), and a judgement by passage number."""

    parts: tuple[str, ...]
    passages: Mapping[int, Judgement]


def shown(passage: Passage) -> str:
    """What the judge sees of a passage."""
    heading = " › ".join(filter(None, (passage.title, passage.location)))
    note = "\nThis document was superseded by a newer one." if passage.superseded else ""
    return f"{heading}{note}\n{passage.text[:_CHARACTERS]}"


def request(question: str, passages: Sequence[str]) -> list[Message]:
    """The messages for passages as shown, which are numbered from 1."""
    marked = fence([question, *passages])
    numbered = (marked.around(text, label=f"P{number}") for number, text in enumerate(passages, 1))
    user = "\n\n".join([f"Question:\n{marked.around(question)}", f"{len(passages)} passages:", *numbered])
    return [("system", f"{_PROMPT}\n\n{marked.rule}"), ("user", user)]


def judgements(reply: ChatReply, count: int) -> Judgements:
    """The usable judgements of the reply; ModelReplyError where half of the passages or more were not judged."""
    parts: tuple[str, ...] = ()
    if reply.data is None:
        judged = dict(_from_prose(reply.text, count))
    else:
        parts = tuple(part.strip() for part in texts_in(reply.data.get("parts")) if part.strip())[:_PARTS]
        judged = _from_items(reply.data.get("passages"), count)
    if 2 * len(judged) <= count and len(judged) < count:
        raise ModelReplyError(f"It judges {len(judged)} of {count} passages.", calls=(reply.call,))
    return Judgements(parts=parts, passages=judged)


def _from_items(items: Any, count: int) -> dict[int, Judgement]:
    """The judgements of a JSON reply. Where a passage was judged twice the milder label counts: the model is unsure."""
    judged: dict[int, Judgement] = {}
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict):
            continue
        number = number_in(item.get("id"), count)
        labels = tuple(filter(None, map(label_in, texts_in(item.get("labels", item.get("label"))))))
        if number is None or not labels:
            continue
        reason = " ".join(str(item.get("reason") or "").split()) or "no reason given"
        said = Judgement(reason=reason, labels=labels)
        judged[number] = _milder(judged[number], said) if number in judged else said
    return judged


def _milder(one: Judgement, other: Judgement) -> Judgement:
    parts = range(max(len(one.labels), len(other.labels)))
    labels = tuple(min(one.label(part), other.label(part), key=LABELS.index) for part in parts)
    return Judgement(reason=one.reason, labels=labels)


def _from_prose(text: str, count: int) -> Iterator[tuple[int, Judgement]]:
    """The judgements of a reply in prose: a line each (`P1: full`), or a word where there is one passage (`Yes.`)."""
    if count == 1 and (label := label_in(text)):
        yield 1, Judgement(reason=" ".join(text.split()), labels=(label,))
        return
    for line in text.splitlines():
        named = _LINE.match(line.strip())
        if named and (number := number_in(named[1], count)) and (label := label_in(named[2])):
            yield number, Judgement(reason=" ".join(named[2].split()), labels=(label,))
