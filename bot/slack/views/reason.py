"""The modal that asks why an answer did not help; pure."""

from collections.abc import Mapping
from typing import Any

from bot.slack import words
from bot.slack.text.mrkdwn import clean
from crag_graph.phrases import Phrase

REASON_GIVEN = "reason_given"
"""The modal's callback id."""
LONGEST_REASON = 2_000
"""Characters; Slack takes 3,000, a note of the feedback has 2,000."""
_BLOCK, _INPUT = "reason", "text"
TITLE = Phrase("What was wrong?")
SUBMIT = Phrase("Send")
SKIP = Phrase("Skip")
LABEL = Phrase("Why did the answer not help?")
HINT = Phrase("Whoever reviews the answers reads it with your name.")


def reason_view(trace: str) -> dict[str, Any]:
    """The vote is given already: closing the modal takes nothing back."""
    return {
        "type": "modal",
        "callback_id": REASON_GIVEN,
        "private_metadata": trace,
        "title": _text(TITLE()),
        "submit": _text(SUBMIT()),
        "close": _text(SKIP()),
        "blocks": [
            {
                "type": "input",
                "block_id": _BLOCK,
                "optional": True,
                "label": _text(LABEL()),
                "hint": _text(HINT()),
                "element": {
                    "type": "plain_text_input",
                    "action_id": _INPUT,
                    "multiline": True,
                    "max_length": LONGEST_REASON,
                },
            }
        ],
    }


def reason_gone_view(text: str) -> dict[str, Any]:
    """In place of the modal where the answer was forgotten meanwhile."""
    section = {"type": "section", "text": _text(text)}
    return {"type": "modal", "title": _text(TITLE()), "close": _text(words.CLOSE()), "blocks": [section]}


def reason_of(view: Mapping[str, Any]) -> tuple[str, str]:
    """The trace and the reason of a submitted modal; the reason is empty where none was given."""
    given = view["state"]["values"].get(_BLOCK, {}).get(_INPUT, {}).get("value")
    return str(view["private_metadata"]), clean(given or "").strip()


def _text(said: str) -> dict[str, str]:
    return {"type": "plain_text", "text": said}
