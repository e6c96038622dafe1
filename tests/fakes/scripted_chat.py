"""A chat model that plays every role by simple rules over its prompt, for scenarios against the local server."""

import re
from typing import Any

from tests.fakes.openai_server import ChatRequest


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"\w+")
_STOP = _words(
    "a about am an and any are at be by can could did do does each for from get gets give has have how i if in is it "
    "its key last latest many may me month much my need news of on or our please tell than that the their there they "
    "this to today us want was we what when where which who why will with year you your compare compared deep "
    "learning"
)
_FULL, _PARTIAL = 0.75, 0.5
"""Shares of a question's words that a passage must have."""


def scripted_chat(request: ChatRequest) -> str | dict[str, Any]:
    """The reply of the role that the request asks for: by its schema, or the answer where it wants prose."""
    match request.schema_name:
        case "standalone_question":
            return _standalone(request)
        case "web_query":
            return _query(request)
        case "evaluation":
            return _evaluation(request)
        case "strips":
            return _strips(request)
        case _:
            return _answer(request)


def _standalone(request: ChatRequest) -> dict[str, str]:
    """A question without a topic of its own gets the words of the last question of the conversation."""
    conversation, question = (text for _, text in _fenced(request.last))
    asked = re.findall(r"^Q: (.+)$", conversation, re.MULTILINE)
    depends = re.match(r"(?i)\W*(and|what about|how about|but|it|they|that)\b", question) is not None
    if depends and asked:
        question = f"{asked[-1].rstrip('?!. ')} – {question}"
    return {"standalone_question": question, "summary": f"Spoke about: {'; '.join(asked)}"}


def _query(request: ChatRequest) -> dict[str, str]:
    """The words of the question that carry a topic, with the month where it asks for last month."""
    question = _fenced(request.last)[-1][1]
    words = [word for word in _WORD.findall(question) if word.lower() not in _STOP - {"key", "news"}]
    if "last month" in question.lower() and (month := re.search(r"last month was (\w+ \d{4})", request.last)):
        words.append(month[1])
    return {"query": " ".join(words)}


def _evaluation(request: ChatRequest) -> dict[str, Any]:
    (_, question), *passages = _fenced(request.last)
    parts = _parts(question)
    items = [
        {
            "id": label,
            "reason": f"shares {', '.join(sorted(_topics(question) & _topics(text))) or 'nothing'}",
            "labels": [_label(part, text) if part == question else _named(part, text) for part in parts],
        }
        for label, text in passages
    ]
    return {"parts": parts, "passages": items}


def _strips(request: ChatRequest) -> dict[str, list[str]]:
    """Keeps what shares at least a third of the question's words."""
    (_, question), *strips = _fenced(request.last)
    return {"keep": [label for label, text in strips if _share(question, text) >= 1 / 3]}


def _answer(request: ChatRequest) -> str:
    """The text of the three sources that share most with the question, each with its mark."""
    asked = request.last.rsplit("Question: ", 1)[-1]
    sources = sorted(_fenced(request.last), key=lambda source: -_share(asked, source[1]))
    said = [f"{_said(text)} {label.split(']')[0]}]" for label, text in sources[:3]]
    return "\n\n".join(said) or "The sources do not cover this."


def _said(source: str) -> str:
    """What a source says, without its title and the headings in brackets."""
    return " ".join(line for line in source.splitlines()[1:] if not re.fullmatch(r"\(.*\)", line))


def _fenced(prompt: str) -> list[tuple[str, str]]:
    """Label and text of what stands between fences."""
    found = re.findall(r"^BEGIN (\w+) ?([^\n]*)\n(.*?)\nEND \1$", prompt, re.MULTILINE | re.DOTALL)
    return [(label, text) for _, label, text in found]


def _parts(question: str) -> list[str]:
    """The two sides of a comparison, or the question."""
    sides = re.search(r"(?i)how does (.+?) compare (?:with|to) (.+?)\W*$", question)
    return [sides[1], sides[2]] if sides else [question]


def _label(part: str, text: str) -> str:
    share = _share(part, text)
    return "full" if share >= _FULL else "partial" if share >= _PARTIAL else "none"


def _named(side: str, text: str) -> str:
    """A side of a comparison is in a text by its whole name: `layer` alone is not layer normalisation."""
    return "full" if side.lower() in text.lower() else "none"


def _share(question: str, text: str) -> float:
    asked = _topics(question)
    return len(asked & _topics(text)) / len(asked) if asked else 0.0


def _topics(text: str) -> set[str]:
    """The words that carry a topic, without endings."""
    words = (word.lower() for word in _WORD.findall(text))
    return {re.sub(r"(?:isation|ization|ations?|ing|es|ed|s|e)$", "", word) for word in words if word not in _STOP}
