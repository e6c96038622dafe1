"""Follow-up questions that stand alone, by rules: what they leave unsaid is taken from the conversation."""

import re

from crag_graph.domain import Conversation, Turn
from crag_graph.models.languages import guess
from crag_graph.models.leaning import ASKING, ORDINAL, leans_back, points_outside, without_opening
from crag_graph.models.queries import cut
from crag_graph.models.topics import WORD, content_words, names, phrase

_LEAD = 80
"""Characters of a topic in front of a question; the evaluator takes a longer one for a sentence of its own."""
_LONG = 1_000
"""Characters beyond which a question says enough by itself; as much is read of an earlier question or its answer."""
_ANSWER_NAMES = 2
_NO_NAMES = frozenset({"yes", "no", "eur", "usd", "gbp", "chf"})

_PLACES = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1}
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(\S.*)$", re.MULTILINE)
_LISTED = re.compile(r",\s+(?:and |or )?|\s+(?:and|or|und|oder|et|ou|y|o)\s+")
_CODE = re.compile(r"\d(?=.*[^\W\d])|[^\W\d].*\d|\d\W\d|\d{4}")
_MARK = re.compile(r"\s*\[\d+\]")
_PREPOSITION = r"for|in|on|at|with|from|by|during|under|für|im|bei|mit|ab|pour|à|dans|para|em|com|con"
_WITH_PREPOSITION = re.compile(rf"(?P<preposition>{_PREPOSITION})\s+(?P<rest>.+)", re.IGNORECASE)
_ADJECTIVE_ONE = re.compile(r"(?:the|an?|any) (\w+(?:ly|al|ed|ic|ary)) ones?", re.IGNORECASE)


def standalone(question: str, conversation: Conversation) -> str:
    """The question as it reads without its conversation; unchanged where it does not lean on it."""
    before = _topic(conversation)
    asked = " ".join(question.split())
    if before is None or len(asked) > _LONG or not leans_back(asked):
        return question
    asked = _with_listed_item(asked, before["answer"])
    rest = without_opening(asked)
    return _in_the_same_words(rest, before["standalone"]) or _with_lead(rest, before)


def _topic(conversation: Conversation) -> Turn | None:
    """The last turn that was about something, else what people said last; None where nothing was said."""
    said = [message.partition(": ")[2] or message for message in conversation.chatter]
    spoken = [Turn(question=text, standalone=text, answer="", sources=[]) for text in said]
    for turn in (*reversed(conversation.turns), *reversed(spoken)):
        question, answer = cut(turn["standalone"], _LONG), cut(turn["answer"], _LONG)
        if content_words(question):
            return {**turn, "standalone": question, "answer": answer}
    return None


def _with_listed_item(asked: str, answer: str) -> str:
    """`the second one` as what the answer listed second."""
    ordinal = ORDINAL.search(asked)
    items = _listed(answer) if ordinal else []
    if ordinal is None or len(items) < 2:  # noqa: PLR2004 - one is no list
        return asked
    place = _PLACES[ordinal[1].lower()]
    if place >= len(items):
        return asked
    return f"{asked[: ordinal.start()]}{items[place]}{asked[ordinal.end() :]}"


def _listed(answer: str) -> list[str]:
    """The things that an answer lists: its list items, or what it joins with commas and `and` in one sentence."""
    plain = _MARK.sub("", answer)
    items = _LIST_ITEM.findall(plain)
    if not items:
        items = _LISTED.split(plain.rpartition(": ")[2])
    return [phrase(item, 60) or item for item in items]


def _in_the_same_words(rest: str, before: str) -> str | None:
    """The question before with what the fragment changes in it: `warranty on a Heron?`, `and the Otter?`."""
    fragment = rest.rstrip(" ?!.")
    base = before.rstrip(" ?!.")
    asks = any(word.casefold() in ASKING for word in WORD.findall(rest))
    if asks or len(content_words(fragment)) > 3 or " " not in base:  # noqa: PLR2004 - more is a question of its own
        return None
    changed = _same_shape(fragment, base) or _same_ending(fragment, base) or _same_place(fragment, base)
    return f"{changed}?" if changed else None


def _same_shape(fragment: str, base: str) -> str | None:
    """`sev2` for `SEV1`, `8.5` for `8.4`, 2023 for 2024: one code or year for another; mere counts are too alike."""
    shapes = {_shape(word): word for word in WORD.findall(base) if _CODE.search(word)}
    for word in filter(_CODE.search, WORD.findall(fragment)):
        if (old := shapes.get(_shape(word))) and old.casefold() != word.casefold():
            return re.sub(rf"\b{re.escape(old)}\b", word, base)
    return None


def _shape(word: str) -> str:
    return re.sub(r"\d+", "0", word.casefold())


def _same_ending(fragment: str, base: str) -> str | None:
    """`the monthly ones` after `the nightly backups`."""
    one = _ADJECTIVE_ONE.fullmatch(fragment)
    for word in WORD.findall(base) if one else ():
        if one and word.casefold()[-2:] == one[1].casefold()[-2:] and word.casefold() != one[1].casefold():
            return base.replace(word, one[1])
    return None


def _same_place(fragment: str, base: str) -> str | None:
    """What stands behind the same preposition gives way; a preposition that is new is added; a name replaces a name."""
    own = _WITH_PREPOSITION.fullmatch(fragment)
    last = list(re.finditer(rf"\b(?:{_PREPOSITION})\s+", base, re.IGNORECASE))
    if own:
        same = [match for match in last if match[0].strip().casefold() == own["preposition"].casefold()]
        return f"{base[: same[-1].start()]}{fragment}" if same else f"{base} {fragment}"
    if last and names(base[last[-1].end() :]) and len(content_words(fragment)) <= 2:  # noqa: PLR2004 - a name
        return f"{base[: last[-1].end()]}{fragment}"
    return None


def _with_lead(rest: str, before: Turn) -> str:
    """The topic in front of the question: `warranty Heron T4: is it longer in Velland?`."""
    lead, _, last = before["standalone"].rpartition(": ")
    if guess(last) == "ja":
        return f"{cut(last.rstrip('？?。 '), _LEAD)}: {rest}"
    said = WORD.findall(rest)
    topic = phrase(" ".join([*_named_in_answer(rest, before), last, lead]), _LEAD, without=said, unique=True)
    return f"{topic}: {rest}" if topic else rest


def _named_in_answer(rest: str, before: Turn) -> list[str]:
    """Names in the first sentence of a short answer: `who sends our mail?`, `Larkpost.`, `what do they charge?`."""
    if not points_outside(rest):
        return []
    first = re.split(r"(?<=[.!?])\s", _MARK.sub("", before["answer"]), maxsplit=1)[0]
    known = {word.casefold() for word in WORD.findall(before["standalone"] + " " + rest)}
    return [name for name in names(first) if name.casefold() not in known | _NO_NAMES][:_ANSWER_NAMES]
