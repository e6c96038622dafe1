"""What is said to a question that came when no more were allowed; pure."""

from bot.slack.views.blocks import Reply
from crag_graph.phrases import Phrase

LIMITED = Phrase(
    "So many questions were asked within an hour that I take no more for now. I take the next one at {time}."
)


def limit_reply(free_at: int, spoken: str) -> Reply:
    """`free_at`: seconds since 1970, shown in the reader's own time; `spoken`: the same for whoever cannot be shown it."""
    text = LIMITED(time=f"<!date^{free_at}^{{time}}|{spoken}>")
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    return Reply(body="", closing=(section,), summary=LIMITED(time=spoken), plain=text)
