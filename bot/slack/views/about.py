"""The modal that asks something about a message of a channel; pure."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bot.slack import words
from bot.slack.text.mrkdwn import clean
from bot.slack.views.blocks import plain_text
from bot.slack.views.keeping import text_blocks
from crag_graph.phrases import Phrase

ABOUT = "ask_about_message"
"""The callback id of the shortcut and of its modal."""
TITLE = Phrase("Ask about this message")
SUBMIT = Phrase("Ask")
LABEL = Phrase("Your question")
HINT = Phrase(
    "The answer comes in the thread, for you alone. The message, and what stands before it there, is its context."
)
LONGEST_QUESTION = 3_000
SHOWN = 2_000
"""Characters of the message that the modal repeats."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The message that is asked about; `thread` is the ts of its thread's root, `ts` its own."""

    channel: str
    thread: str
    ts: str


def about_view(subject: Subject, text: str) -> dict[str, Any]:
    """`text`: of the message."""
    return {
        "type": "modal",
        "callback_id": ABOUT,
        "private_metadata": json.dumps(asdict(subject)),
        "title": plain_text(TITLE()),
        "submit": plain_text(SUBMIT()),
        "close": plain_text(words.CANCEL()),
        "blocks": [
            {
                "type": "input",
                "block_id": "question",
                "label": plain_text(LABEL()),
                "hint": plain_text(HINT()),
                "element": {
                    "type": "plain_text_input",
                    "action_id": "question",
                    "multiline": True,
                    "max_length": LONGEST_QUESTION,
                },
            },
            *text_blocks(text[:SHOWN]),
        ],
    }


def asked_of(view: Mapping[str, Any]) -> tuple[Subject, str]:
    """The subject and the question of a submitted modal."""
    question = clean(view["state"]["values"]["question"]["question"].get("value") or "").strip()
    return Subject(**json.loads(view["private_metadata"])), question
