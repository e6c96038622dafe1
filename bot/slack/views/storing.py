"""The modal that stores what somebody answered in a thread as an expert's answer; pure."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bot.slack import words
from bot.slack.text.mrkdwn import clean
from bot.slack.views.blocks import plain_text, shorten
from bot.slack.views.relay import STORE_LABEL
from crag_graph.phrases import Phrase

STORED = "store_their_answer_modal"
SUBMIT = Phrase("Store")
QUESTION = Phrase("Question")
ANSWER = Phrase("Answer")
ANSWERED_BY = Phrase("Answered by {author}.")
MOST_CHARACTERS = 3_000
"""Of an answer in this modal: Slack takes no more in one field."""
LONGEST_QUESTION = 1_000


@dataclass(frozen=True, kw_only=True)
class Answering:
    """Whose answer is stored, and to which trace; `thread` is the ts of the thread's root, `ts` of the answer."""

    trace: str
    channel: str
    thread: str
    ts: str = ""
    author: str = ""


def store_view(answering: Answering, question: str, answer: str, *, author: str, where: str) -> dict[str, Any]:
    """`author`: the name of whoever answered; `where`: who will be able to ask about it."""
    told = f"{ANSWERED_BY(author=author)} {where}" if author else where
    return {
        "type": "modal",
        "callback_id": STORED,
        "private_metadata": json.dumps(asdict(answering)),
        "title": plain_text(STORE_LABEL()),
        "submit": plain_text(SUBMIT()),
        "close": plain_text(words.CANCEL()),
        "blocks": [
            _input("question", QUESTION(), shorten(question, LONGEST_QUESTION), LONGEST_QUESTION, multiline=False),
            _input("answer", ANSWER(), answer[:MOST_CHARACTERS], MOST_CHARACTERS, multiline=True),
            {"type": "section", "text": plain_text(told)},
        ],
    }


def stored_of(view: Mapping[str, Any]) -> tuple[Answering, str, str]:
    """Whose answer, the question and the answer of a submitted modal."""
    values = view["state"]["values"]
    question, answer = (clean(values[name][name].get("value") or "").strip() for name in ("question", "answer"))
    return Answering(**json.loads(view["private_metadata"])), question, answer


def _input(name: str, label: str, value: str, most: int, *, multiline: bool) -> dict[str, Any]:
    element = {"type": "plain_text_input", "action_id": name, "max_length": most, "multiline": multiline}
    return {
        "type": "input",
        "block_id": name,
        "label": plain_text(label),
        "element": element | ({"initial_value": value} if value else {}),
    }
