"""An expert's answer that may be old, with the buttons that say what is to become of it; pure."""

from bot.experts.answers import SOMEBODY, ExpertAnswer
from bot.slack.text.mrkdwn import escape
from bot.slack.views.blocks import Post, plain_text, shorten
from bot.slack.views.offers import button
from crag_graph.phrases import Phrase

STILL_RIGHT = "expert_answer_still_right"
REMOVE = "expert_answer_remove"
LONGEST = 1_500
"""Characters that are shown of an answer."""

RIGHT_LABEL = Phrase("Still right")
REMOVE_LABEL = Phrase("Remove it")
RIGHT_ALOUD = Phrase("Still right: keep this answer")
REMOVE_ALOUD = Phrase("Remove it: take this answer out of the library")
ASKED = Phrase("Is this still right? On {day}, {name} answered “{question}”, and I cite it.")


def still_right_post(answer: ExpertAnswer) -> Post:
    asked = ASKED(
        day=f"{answer.answered_at:%Y-%m-%d}",
        name=answer.author_name or answer.author or SOMEBODY(),
        question=shorten(answer.question),
    )
    number = str(answer.document)
    kept = button(STILL_RIGHT, RIGHT_LABEL(), number, aloud=RIGHT_ALOUD())
    removed = button(REMOVE, REMOVE_LABEL(), number, aloud=REMOVE_ALOUD())
    return Post(
        text=escape(asked),
        blocks=(
            {"type": "section", "text": plain_text(asked)},
            {"type": "section", "text": plain_text(shorten(answer.answer, LONGEST))},
            {"type": "actions", "elements": [kept, removed | {"style": "danger"}]},
        ),
    )
