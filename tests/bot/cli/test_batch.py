import json
from typing import Any

import pytest

from bot.cli.batch import LineError, read_line, turns


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def test_a_line_holds_a_question_and_what_goes_with_it() -> None:
    asked = read_line(line(question="And a tree?", space="C1", history=[{"role": "user", "content": "A forest?"}]))
    assert (asked.question, asked.space, asked.conversation) == ("And a tree?", "C1", None)
    assert asked.history
    assert asked.history[0]["question"] == "A forest?"


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "not JSON"),
        (b'["question"]', "not a JSON object"),
        (line(question=1), "`question` is not a text"),
        (line(question="x", converzation="y"), "Unknown: converzation"),
        (line(question="x", conversation="y", history=[]), "not both"),
        (line(question="x", history={}), "`history` is not a list"),
        (line(question="x", history=["y"]), "Message 1"),
        (line(question="x", history=[{"role": "system", "content": "y"}]), "user or assistant"),
        (line(question="x", history=[{"role": "user"}]), "`content` is not a text"),
    ],
)
def test_a_bad_line_says_what_is_wrong(bad: bytes, says: str) -> None:
    with pytest.raises(LineError, match=says):
        read_line(bad)


def test_messages_become_turns() -> None:
    messages = [("assistant", "Hello."), ("user", "a"), ("user", "b"), ("assistant", "c"), ("user", "d")]
    assert [(turn["question"], turn["answer"]) for turn in turns(messages)] == [
        ("", "Hello."),
        ("a\nb", "c"),
        ("d", ""),
    ]
