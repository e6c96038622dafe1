"""The app's own tabs: what it can do, and questions to begin with."""

from collections.abc import Mapping
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.web import SlackError, heard

log = structlog.get_logger()

ABOUT = (
    "*Ask me* in a channel by mentioning me, here in the Messages tab, or privately with `/crag-ask`. "
    "I answer from your documents, say when they are not enough, and then look on the web. "
    "Every answer names its sources, and *How I got here* under it shows how it came about.\n\n"
    "*Feed me* with `/crag-ingest` and an address or text, or share a file and mention me with the word `ingest`. "
    "What you add in a channel can be asked about in that channel alone.\n\n"
    "*Have me forget* a conversation with `/crag-forget`."
)
PROMPTS = [
    {"title": "What can you do?", "message": "What can I ask you about?"},
    {"title": "Summarise a document", "message": "Summarise the main points of our handbook."},
    {"title": "Find a rule", "message": "How many days of leave do I have?"},
]


async def on_home_opened(event: Mapping[str, Any], client: AsyncWebClient) -> None:
    try:
        if event.get("tab") == "messages":
            await heard(client.assistant_threads_setSuggestedPrompts(channel_id=event["channel"], prompts=PROMPTS))
        else:
            await heard(client.views_publish(user_id=event["user"], view=_view()))
    except SlackError as error:
        log.info("home_not_shown", code=error.code)


def _view() -> dict[str, Any]:
    return {"type": "home", "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": ABOUT}}]}
