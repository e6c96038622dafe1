"""How a question from a terminal becomes a question of the product."""

import secrets

from bot.questions import Question
from crag_graph.domain import Turn

TEAM = "local"
EVERYBODY = "workspace"
"""The space that every question sees."""


def question(
    text: str, *, conversation: str | None, space: str | None, history: tuple[Turn, ...] | None = None
) -> Question:
    """Without a conversation it is a one-off: nothing is remembered. It sees one space besides everybody's."""
    one_off = history if history is not None else None if conversation else ()
    return Question(
        text=text,
        conversation=conversation_id(conversation or secrets.token_hex(6)),
        spaces=tuple(dict.fromkeys((EVERYBODY, space or EVERYBODY))),
        team=TEAM,
        channel="terminal",
        history=one_off,
    )


def conversation_id(name: str) -> str:
    """A name is of the terminal, an id of Slack is taken as it is."""
    return name if ":" in name else f"{TEAM}:terminal:{name}"
