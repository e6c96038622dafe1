"""The modal that asks why an answer did not help; pure."""

from collections.abc import Mapping
from typing import Any

from bot.slack.text.mrkdwn import clean

REASON_GIVEN = "reason_given"
"""The modal's callback id."""
LONGEST_REASON = 2_000
"""Characters; Slack takes 3,000, a note of the feedback has 2,000."""
_BLOCK, _INPUT = "reason", "text"
_TITLE = "What was wrong?"


def reason_view(trace: str) -> dict[str, Any]:
    """The vote is given already: closing the modal takes nothing back."""
    return {
        "type": "modal",
        "callback_id": REASON_GIVEN,
        "private_metadata": trace,
        "title": _text(_TITLE),
        "submit": _text("Send"),
        "close": _text("Skip"),
        "blocks": [
            {
                "type": "input",
                "block_id": _BLOCK,
                "optional": True,
                "label": _text("Why did the answer not help?"),
                "hint": _text("Whoever reviews the answers reads it with your name."),
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
    return {"type": "modal", "title": _text(_TITLE), "close": _text("Close"), "blocks": [section]}


def reason_of(view: Mapping[str, Any]) -> tuple[str, str]:
    """The trace and the reason of a submitted modal; the reason is empty where none was given."""
    given = view["state"]["values"].get(_BLOCK, {}).get(_INPUT, {}).get("value")
    return str(view["private_metadata"]), clean(given or "").strip()


def _text(words: str) -> dict[str, str]:
    return {"type": "plain_text", "text": words}
