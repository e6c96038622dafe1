"""The app's own tabs: what the bot knows and was asked, with a way to forget, and questions to begin with."""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.listeners.library import Shelf
from bot.slack.replies.forgetting import Wish, ask_to_forget
from bot.slack.replies.home import Home
from bot.slack.text.mrkdwn import clean, defuse
from bot.slack.views.blocks import shorten
from bot.slack.web import SlackError, heard
from crag_graph.knowledge.overview import Topic
from crag_graph.phrases import Phrase

log = structlog.get_logger()

PROMPTS = [
    (Phrase("What can you do?"), Phrase("What can I ask you about?")),
    (Phrase("Summarise a document"), Phrase("Summarise the main points of our handbook.")),
    (Phrase("Find a rule"), Phrase("How many days of leave do I have?")),
]
"""What stands on each, and what pressing it asks."""
LONGEST_TOPIC = 60
ABOUT_DOCUMENT = Phrase("What are the main points of “{title}”?")
ABOUT_HEADING = Phrase("What does “{title}” say about “{heading}”?")
FORGETTING = Phrase("I am forgetting the conversation.")
NOT_YOURS = Phrase("That conversation is forgotten already, or you asked nothing in it.")


async def on_home_opened(event: Mapping[str, Any], client: AsyncWebClient, home: Home) -> None:
    try:
        if event.get("tab") == "messages":
            channel = event["channel"]
            prompts = prompts_of(await home.topics(event["user"], channel))
            await heard(client.assistant_threads_setSuggestedPrompts(channel_id=channel, prompts=prompts))
        else:
            await home.show(event["user"])
    except SlackError as error:
        log.info("home_not_shown", code=error.code)


def prompts_of(topics: Sequence[Topic]) -> list[dict[str, str]]:
    """Questions to begin with: about the person's own documents, or, where there are none, about ours."""
    asked = [_question(topic) for topic in topics]
    ours = [{"title": title(), "message": message()} for title, message in PROMPTS]
    return [ours[0], *({"title": one, "message": one} for one in asked)] if asked else ours


def _question(topic: Topic) -> str:
    """The person says it by pressing it: nothing in a title may then ping, or be more than its name."""
    title, heading = _harmless(topic.title), _harmless(topic.heading)
    return ABOUT_HEADING(title=title, heading=heading) if heading else ABOUT_DOCUMENT(title=title)


def _harmless(words: str) -> str:
    return shorten(defuse(clean(words)).translate(str.maketrans("<>", "‹›")), LONGEST_TOPIC)


async def on_home_forget(
    ack: AsyncAck, action: Mapping[str, Any], body: Mapping[str, Any], shelf: Shelf, home: Home
) -> None:
    conversation, user = str(action.get("value") or ""), body["user"]["id"]
    ours = conversation.startswith(f"{shelf.me.team}:") and await shelf.inbox.has_asked(conversation, user)
    if ours:
        wish = Wish(conversations=(conversation,), channel="", user=user, response_url="", home=True)
        await ask_to_forget(wish, shelf.me.team, shelf.inbox, shelf.queue)
    await ack()
    try:
        await home.show(user, notice=FORGETTING() if ours else NOT_YOURS(), without=(conversation,))
    except SlackError as error:
        log.info("home_not_shown", code=error.code)
