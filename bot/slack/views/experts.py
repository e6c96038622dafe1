"""An expert's answer that may be old, with the buttons that say what is to become of it; pure."""

from bot.experts.answers import ExpertAnswer
from bot.slack.text.mrkdwn import escape
from bot.slack.views.blocks import Post, plain_text, shorten
from bot.slack.views.offers import button

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
    number = str(answer.document)
    kept = button(STILL_RIGHT, "Still right", number, aloud="Still right: keep this answer")
    removed = button(REMOVE, "Remove it", number, aloud="Remove it: take this answer out of the library")
    return Post(
        text=escape(asked),
        blocks=(
            {"type": "section", "text": plain_text(asked)},
            {"type": "section", "text": plain_text(shorten(answer.answer, LONGEST))},
            {"type": "actions", "elements": [kept, removed | {"style": "danger"}]},
        ),
    )
