"""Judges passages and strips with a chat model: one call for all of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from crag_graph.chat import ChatModel, ChatReply, object_schema, strict_object
from crag_graph.domain import Kind, Part, Passage, Score, Strip
from crag_graph.fence import Fence, fence
from crag_graph.services import Evaluation, Filtering, ModelReplyError

_JUDGE = """\
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
_FILTER = """\
You choose which excerpts a writer needs to answer a question. You do not answer it.
- Keep an excerpt that states a part of the answer, a condition or exception to it, or what it refers to.
- Keep its neighbour where an excerpt needs it to be understood ("It applies …" needs the sentence that says what).
- Drop what is about something else. When in doubt keep: a lost answer costs more than a sentence too many.

Reply with JSON only: {"keep": ["S1", "S3"]}, or {"keep": []} where nothing helps."""

_EVALUATION = object_schema(
    "evaluation",
    parts={"type": "array", "items": {"type": "string"}},
    passages={
        "type": "array",
        "items": strict_object(
            id={"type": "string"},
            reason={"type": "string"},
            labels={"type": "array", "items": {"type": "string", "enum": ["none", "partial", "full"]}},
        ),
    },
)
_KEEP = object_schema("strips", keep={"type": "array", "items": {"type": "string"}})

_PASSAGE_CHARACTERS = 4_000
"""A passage of the library has about 900; a web page may have more than a judge needs."""
_PARTS = 6
"""Parts of a question that count; a model that runs wild lists dozens."""
_LABELS = {
    "full": "full|fully|yes|correct|relevant|sufficient|complete|answers",
    "partial": "partial|partially|partly|some|ambiguous|incomplete",
    "none": "none|no|not|irrelevant|incorrect|insufficient|never",
}
"""Words by which models say a label that they were not asked for."""
_NUMBER = re.compile(r"\d+")
_REFERS_BACK = re.compile(
    r"\W*(?:it|its|they|their|them|this|that|these|those|he|she|such|the latter)\b", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class LabelScores:
    """The score that a label stands for: how often a passage with this label turns out to answer fully.

    Between the thresholds 0.7 and 0.3: full is above, none below, partial between. Refit them for a model
    whose labels are worth more or less.
    """

    full: float = 0.9
    partial: float = 0.5
    none: float = 0.05

    def of(self, label: str) -> float:
        return {"full": self.full, "partial": self.partial, "none": self.none}[label]


class LlmEvaluator:
    """Implements services.Evaluator over a chat model; one call a method, none where there is nothing to judge.

    The model sees the passages in an order that depends on their texts alone, under names that say nothing
    about rank, so that shuffled passages get the same verdict.
    """

    def __init__(self, chat: ChatModel, scores: LabelScores | None = None) -> None:
        self._chat = chat
        self._scores = scores or LabelScores()

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        if not passages:
            return Evaluation(scores=(), parts=(Part(text=question, scores=()),))
        shown = sorted({_shown(passage) for passage in passages})
        marked = fence([question, *shown])
        user = "\n\n".join(
            [
                f"Question:\n{marked.around(question)}",
                f"{len(shown)} passages:",
                *(marked.around(text, label=f"P{number}") for number, text in enumerate(shown, 1)),
            ]
        )
        reply = await self._chat.ask(
            "evaluate", [("system", f"{_JUDGE}\n\n{marked.rule}"), ("user", user)], _EVALUATION
        )
        judged = _judgements(reply, len(shown))
        by_text = {text: judged.passages.get(number) for number, text in enumerate(shown, 1)}
        return self._evaluation(question, judged.parts, [by_text[_shown(passage)] for passage in passages], reply)

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        if not strips:
            return Filtering(scores=(), keep=())
        order = sorted(range(len(strips)), key=lambda index: _place(strips[index]))
        marked = fence([question, *(strip.text for strip in strips)])
        user = f"Question:\n{marked.around(question)}\n\nExcerpts:\n\n{_excerpts(strips, order, marked)}"
        reply = await self._chat.ask("refine", [("system", f"{_FILTER}\n\n{marked.rule}"), ("user", user)], _KEEP)
        chosen = {order[number - 1] for number in _kept_numbers(reply, len(order))}
        carriers = _subject_carriers(strips, order, chosen)
        return Filtering(
            scores=tuple(self._strip_score(index, chosen, carriers) for index in range(len(strips))),
            keep=tuple(index in chosen | carriers for index in range(len(strips))),
            calls=(reply.call,),
        )

    def _evaluation(
        self, question: str, parts: Sequence[str], judgements: "Sequence[_Judgement | None]", reply: ChatReply
    ) -> Evaluation:
        texts = list(parts) or [question]
        columns = [
            tuple(self._score(judgement, position) for judgement in judgements) for position in range(len(texts))
        ]
        best = tuple(max(scores, key=lambda score: score.value) for scores in zip(*columns, strict=True))
        return Evaluation(
            scores=best,
            parts=tuple(Part(text=text, scores=scores) for text, scores in zip(texts, columns, strict=True)),
            calls=(reply.call,),
        )

    def _score(self, judgement: "_Judgement | None", position: int) -> Score:
        if judgement is None:
            # Neither dropped nor trusted: the other passages decide.
            return Score(value=self._scores.partial, reason="not judged by the model")
        return Score(value=self._scores.of(judgement.label(position)), reason=judgement.reason)

    def _strip_score(self, index: int, chosen: set[int], carriers: set[int]) -> Score:
        if index in chosen:
            return Score(value=self._scores.full, reason="chosen by the model")
        if index in carriers:
            return Score(value=self._scores.partial, reason="carries the subject of the next strip")
        return Score(value=self._scores.none, reason="not chosen by the model")


@dataclass(frozen=True, kw_only=True)
class _Judgement:
    """What the model said of one passage: a label for each part."""

    reason: str
    labels: tuple[str, ...]

    def label(self, position: int) -> str:
        """The label for a part; one label alone holds for all parts."""
        if position < len(self.labels):
            return self.labels[position]
        return self.labels[0] if len(self.labels) == 1 else "none"


@dataclass(frozen=True, kw_only=True)
class _Judgements:
    parts: tuple[str, ...]
    passages: Mapping[int, _Judgement]


def _shown(passage: Passage) -> str:
    """What the judge sees of a passage."""
    heading = " › ".join(filter(None, (passage.title, passage.location)))
    note = "\nThis document was superseded by a newer one." if passage.superseded else ""
    return f"{heading}{note}\n{passage.text[:_PASSAGE_CHARACTERS]}"


def _judgements(reply: ChatReply, count: int) -> _Judgements:
    """The usable judgements of the reply; ModelReplyError where most passages were not judged."""
    parts: tuple[str, ...] = ()
    if reply.data is None:
        judged = dict(_from_prose(reply.text, count))
    else:
        parts = tuple(part.strip() for part in _texts(reply.data.get("parts")) if part.strip())[:_PARTS]
        judged = dict(_from_items(reply.data, count))
    if 2 * len(judged) <= count and len(judged) < count:
        raise ModelReplyError(f"It judges {len(judged)} of {count} passages.", calls=(reply.call,))
    return _Judgements(parts=parts, passages=judged)


def _from_items(data: Mapping[str, Any], count: int) -> Iterator[tuple[int, _Judgement]]:
    """The judgements of a JSON reply by passage number. Said twice: the milder label counts, as it is unsure."""
    items = data.get("passages")
    by_number: dict[int, _Judgement] = {}
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict):
            continue
        number = _number(item.get("id"), count)
        labels = tuple(filter(None, map(_label, _texts(item.get("labels", item.get("label"))))))
        if number is None or not labels:
            continue
        reason = " ".join(str(item.get("reason") or "").split()) or "no reason given"
        said = _Judgement(reason=reason, labels=labels)
        by_number[number] = _milder(by_number[number], said) if number in by_number else said
    yield from by_number.items()


def _milder(one: _Judgement, other: _Judgement) -> _Judgement:
    ranks = ("none", "partial", "full")
    longest = max(len(one.labels), len(other.labels))
    labels = tuple(min(one.label(place), other.label(place), key=ranks.index) for place in range(longest))
    return _Judgement(reason=one.reason, labels=labels)


def _from_prose(text: str, count: int) -> Iterator[tuple[int, _Judgement]]:
    """The judgements of a reply in prose: a line each (`P1: full`), or a word where there is one passage (`Yes.`)."""
    if count == 1 and (label := _label(text)):
        yield 1, _Judgement(reason=" ".join(text.split()), labels=(label,))
        return
    for line in text.splitlines():
        named = re.match(r"\W*(P?\d+)\W+(.+)", line.strip(), re.IGNORECASE)
        if named and (number := _number(named[1], count)) and (label := _label(named[2])):
            yield number, _Judgement(reason=" ".join(named[2].split()), labels=(label,))


def _label(text: str) -> str | None:
    """The label that a text begins with, in the model's words: `Yes.`, `FULL`, `Partially relevant`."""
    word = re.search(r"[A-Za-z]+", text)
    for label, spellings in _LABELS.items():
        if word and re.fullmatch(spellings, word[0], re.IGNORECASE):
            return label
    return None


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [value] if isinstance(value, str) else []


def _number(name: Any, count: int) -> int | None:
    """The number in a name that we gave (`P3`, `3`, `[S3]`); None for a name that we did not give."""
    found = _NUMBER.search(str(name))
    return int(found[0]) if found and 1 <= int(found[0][:9]) <= count else None


def _kept_numbers(reply: ChatReply, count: int) -> set[int]:
    if reply.data is not None and isinstance(reply.data.get("keep"), list):
        names = reply.data["keep"]
    elif reply.data is None and (names := re.findall(r"\bS\d+\b", reply.text)):
        pass
    elif reply.data is None and _label(reply.text) == "none":
        names = []
    else:
        raise ModelReplyError("It names no excerpts.", calls=(reply.call,))
    numbers = {number for name in names if (number := _number(name, count)) is not None}
    if names and not numbers:
        raise ModelReplyError("It names other excerpts.", calls=(reply.call,))
    return numbers


def _place(strip: Strip) -> tuple[str, int, int]:
    """Strips of one passage side by side in source order; passages in the order of their texts."""
    return f"{_shown(strip.passage)}\n{strip.passage.id}", strip.start, strip.end


def _excerpts(strips: Sequence[Strip], order: Sequence[int], marked: Fence) -> str:
    """The strips under their passages."""
    pieces = []
    passage = ""
    for number, index in enumerate(order, 1):
        strip = strips[index]
        if strip.passage.id != passage:
            passage = strip.passage.id
            kind = "web page" if strip.passage.kind is Kind.WEB else "document"
            pieces.append(f"From a {kind}:")
        context = f"({strip.context})\n" if strip.context else ""
        pieces.append(marked.around(f"{context}{strip.text}", label=f"S{number}"))
    return "\n".join(pieces)


def _subject_carriers(strips: Sequence[Strip], order: Sequence[int], chosen: set[int]) -> set[int]:
    """Strips before a chosen one of the same passage that begins with a word that refers back."""
    carriers = set()
    for before, index in pairwise(order):
        same = strips[before].passage.id == strips[index].passage.id
        if index in chosen and before not in chosen and same and _REFERS_BACK.match(strips[index].text):
            carriers.add(before)
    return carriers
