"""Questions from a file, one JSON object a line; a line that cannot be used says so and stops nobody."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crag_graph.domain import Turn

KNOWN = frozenset({"question", "conversation", "space", "history"})


class LineError(ValueError):
    """The line is no question; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One line of the file."""

    question: str
    conversation: str | None = None
    space: str | None = None
    history: tuple[Turn, ...] | None = None


def read_line(line: bytes) -> Asked:
    """Raises LineError."""
    try:
        found = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise LineError("The line is not text in UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise LineError(f"The line is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise LineError("The line is not a JSON object.")
    if unknown := sorted(found.keys() - KNOWN):
        raise LineError(f"Unknown: {', '.join(unknown)}. Known: {', '.join(sorted(KNOWN))}.")
    if found.get("conversation") and found.get("history") is not None:
        raise LineError("Give a conversation or a history, not both.")
    return Asked(
        question=_text(found, "question") or "",
        conversation=_text(found, "conversation") or None,
        space=_text(found, "space") or None,
        history=_history(found.get("history")),
    )


def _text(found: Mapping[str, Any], name: str) -> str | None:
    value = found.get(name)
    if value is not None and not isinstance(value, str):
        raise LineError(f"`{name}` is not a text.")
    return value


def _history(found: Any) -> tuple[Turn, ...] | None:
    if found is None:
        return None
    if not isinstance(found, list):
        raise LineError("`history` is not a list.")
    return tuple(turns([_message(number, message) for number, message in enumerate(found, 1)]))


def _message(number: int, message: Any) -> tuple[str, str]:
    if not isinstance(message, dict):
        raise LineError(f"Message {number} of `history` is not an object.")
    role, content = message.get("role"), message.get("content")
    if role not in {"user", "assistant"}:
        raise LineError(f"Message {number} of `history`: `role` is user or assistant.")
    if not isinstance(content, str):
        raise LineError(f"Message {number} of `history`: `content` is not a text.")
    return role, content


def turns(messages: list[tuple[str, str]]) -> Iterator[Turn]:
    """Messages by role as turns; what one side said in several messages belongs together."""
    question: list[str] = []
    answer: list[str] = []
    for role, content in messages:
        if role == "user" and answer:
            yield _turn(question, answer)
            question, answer = [], []
        (question if role == "user" else answer).append(content)
    if question or answer:
        yield _turn(question, answer)


def _turn(question: list[str], answer: list[str]) -> Turn:
    asked = "\n".join(question)
    return Turn(question=asked, standalone=asked, answer="\n".join(answer), sources=[])
