"""An expert's answer that may be old, with the buttons that say what is to become of it; pure."""

from bot.experts.answers import ExpertAnswer
from bot.slack.text.mrkdwn import escape
from bot.slack.views.blocks import Post, plain_text, shorten

STILL_RIGHT = "expert_answer_still_right"
REMOVE = "expert_answer_remove"
LONGEST = 1_500
"""Characters that are shown of an answer."""

ASKED = "Is this still right? On {day}, {name} answered “{question}”, and I cite it."


def still_right_post(answer: ExpertAnswer) -> Post:
    asked = ASKED.format(
        day=f"{answer.answered_at:%Y-%m-%d}",
        name=answer.author_name or answer.author or "a colleague",
        question=shorten(answer.question),
    )
    buttons = [_button(STILL_RIGHT, "Still right", answer), _button(REMOVE, "Remove it", answer) | {"style": "danger"}]
    return Post(
        text=escape(asked),
        blocks=(
            {"type": "section", "text": plain_text(asked)},
            {"type": "section", "text": plain_text(shorten(answer.answer, LONGEST))},
            {"type": "actions", "elements": buttons},
        ),
    )


def _button(action: str, label: str, answer: ExpertAnswer) -> dict[str, object]:
    return {"type": "button", "action_id": action, "text": plain_text(label), "value": str(answer.document)}
