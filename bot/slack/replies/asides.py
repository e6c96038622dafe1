"""What the bot says of its own accord, in direct messages: an answer that was waited for, an answer that may be old."""

from dataclasses import replace

from bot.experts.answers import ExpertAnswer
from bot.questions import Answered
from bot.slack.incoming import Me
from bot.slack.replies.thread import Thread
from bot.slack.text.markdown import make_safe
from bot.slack.text.mrkdwn import escape
from bot.slack.views.blocks import answer_reply, posts, shorten
from bot.slack.views.experts import still_right_post
from bot.slack.web import Web, heard
from bot.traces.reading import Row
from bot.traces.wishes import Wish
from crag_graph.phrases import Phrase

KNOWN = Phrase("You asked me to tell you when I know: “{question}”. I do now.")
KNOWN_THERE = Phrase("You asked me to tell you when I know: “[{question}]({link})”. I do now.")


async def tell_answer(web: Web, me: Me, wish: Wish, run: Row, answered: Answered) -> None:
    """Once: what an earlier try has sent is found by its mark. Raises SlackError."""
    opened = await heard(web.patient.conversations_open(users=wish.person))
    thread = Thread(
        web=web,
        me=me,
        channel=opened["channel"]["id"],
        root="",
        question=f"{wish.wished_at.timestamp():.6f}",
        mark=wish.mark,
    )
    asked, link = shorten(run["question"]), run["permalink"]
    lead = KNOWN_THERE(question=asked, link=link) if link else KNOWN(question=asked)
    reply = answer_reply(answered)
    reply = replace(
        reply,
        body=f"{make_safe(lead, {link})}\n\n{reply.body}",
        summary=escape(KNOWN(question=asked)),
    )
    placed = await thread.find() if wish.tried else {}
    for part, post in enumerate(posts(reply)):
        if part not in placed:
            await thread.post(post, part)


async def ask_whether_still_right(web: Web, person: str, answer: ExpertAnswer) -> None:
    """Raises SlackError."""
    post = still_right_post(answer)
    await heard(
        web.patient.chat_postMessage(
            channel=person, text=post.text, blocks=list(post.blocks), unfurl_links=False, unfurl_media=False
        )
    )
