"""An answer that its asker shares, and a question that is handed on to people; pure."""

from collections.abc import Iterable
from dataclasses import replace

from bot.questions import Answered
from bot.slack.text.markdown import make_safe
from bot.slack.text.mrkdwn import escape
from bot.slack.views.blocks import Post, Reply, answer_reply, shorten
from bot.slack.views.offers import button
from bot.traces.reading import Row
from crag_graph.domain import Abstention, Answer, Citation, Kind, Verdict
from crag_graph.phrases import Phrase

STORE = "store_their_answer"
LONGEST_QUESTION = 1_500

SHARED = Phrase("{name} asked me “{question}” and shares my answer:")
CALLED = Phrase("{people}: {asker} asks “{question}”, and I have no answer. Please answer here in the thread.")
STORE_LABEL = Phrase("Store the answer")


def answered_of(run: Row) -> Answered:
    """What a trace remembers of an answer."""
    return Answered(
        question=run["question"],
        answer=Answer(
            text=run["answer"],
            verdict=Verdict(run["verdict"]),
            reason=run["reason"],
            citations=tuple(Citation(**one | {"kind": Kind(one["kind"])}) for one in run["citations"]),
            abstention=Abstention(run["abstention"]) if run["abstention"] else None,
            quoted=run["quoted"],
            notice=run["notice"],
        ),
        trace_id=run["id"],
        standalone=run["standalone"],
        web_query=run["web_query"] or None,
    )


def shared_reply(run: Row, name: str) -> Reply:
    """The answer with who asked what, for everybody in the place."""
    reply = answer_reply(answered_of(run))
    lead = SHARED(name=name, question=shorten(run["question"], LONGEST_QUESTION))
    return replace(
        reply,
        body=f"{make_safe(lead)}\n\n{reply.body}",
        summary=f"{escape(shorten(lead))} {reply.summary}",
        plain=f"{escape(lead)}\n\n{reply.plain}",
    )


def call_post(run: Row, people: Iterable[str], groups: Iterable[str]) -> Post:
    """Calls those whom the channel has chosen: the only pings that the bot ever sends."""
    called = [*(f"<@{person}>" for person in people), *(f"<!subteam^{group}>" for group in groups)]
    said = CALLED(
        people=" ".join(called),
        asker=f"<@{run['asker']}>",
        question=escape(shorten(run["question"], LONGEST_QUESTION)),
    )
    section = {"type": "section", "text": {"type": "mrkdwn", "text": said}}
    store = {"type": "actions", "elements": [button(STORE, STORE_LABEL(), run["id"])]}
    return Post(text=said, blocks=(section, store))
