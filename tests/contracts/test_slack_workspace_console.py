"""The console of the local Slack: lines in, what a person sees out."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_workspace import SlackWorkspace
from tests.slack_workspace.connect import bolt, in_socket_mode
from tests.slack_workspace.console import Console

Body = dict[str, Any]
BUTTON = {"type": "button", "action_id": "more", "text": {"type": "plain_text", "text": "More"}}
NAME = {
    "type": "input",
    "label": {"type": "plain_text", "text": "Name"},
    "element": {"type": "plain_text_input", "action_id": "name"},
}
MODAL = {
    "type": "modal",
    "callback_id": "more",
    "title": {"type": "plain_text", "text": "More of it"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [NAME],
}


def echoing(slack: SlackWorkspace) -> AsyncApp:
    """A bot that repeats what it hears, with a button that opens a modal."""
    app = bolt(slack)

    async def answer(event: Body, client: AsyncWebClient) -> None:
        text = {"type": "section", "text": {"type": "mrkdwn", "text": f"You said: {event['text']}"}}
        root = event.get("thread_ts", event["ts"])
        await client.chat_postMessage(
            channel=event["channel"], thread_ts=root, text="x", blocks=[text, {"type": "actions", "elements": [BUTTON]}]
        )

    app.event("app_mention")(answer)
    app.event({"type": "message", "channel_type": "im"})(answer)
    app.event("message")(ignore)
    app.event("app_home_opened")(ignore)

    @app.action("more")
    async def more(ack: AsyncAck, body: Body, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    @app.view("more")
    async def sent(ack: AsyncAck) -> None:
        await ack()

    @app.command("/echo")
    async def echo(ack: AsyncAck, command: Body, respond: AsyncRespond) -> None:
        await ack()
        await respond(f"Only you: {command['text']}")

    return app


async def ignore() -> None:
    """Nothing to do."""


async def shown(*lines: str) -> str:
    """Everything that the console writes for these lines."""
    written: list[str] = []

    async def typed() -> AsyncIterator[str]:
        for line in lines:
            yield line

    async with SlackWorkspace() as slack:
        console = Console(slack, written.append, patience=5)
        async with in_socket_mode(echoing(slack), slack):
            await console.run(typed())
    return "\n".join(written)


async def test_a_talk_in_a_channel_its_thread_and_direct_messages() -> None:
    screen = await shown("@bot hello", ":wait", ":thread", "@bot again", ":wait", ":dm", "private", ":wait")
    assert "bot (#general in a thread):\n  │ You said: @bot hello\n  │ [More]" in screen
    assert "You said: @bot again" in screen
    assert "bot (direct messages in a thread):\n  │ You said: private" in screen


async def test_a_command_a_button_and_a_modal() -> None:
    screen = await shown("/echo hi there", "@bot hello", ":wait", ":click More", ":submit Name=Grace", ":click Less")
    assert "bot (#general, only for Ada):\n  │ Only you: hi there" in screen
    assert "[More of it] of Ada:\n  │ Name:" in screen
    assert "! There is no button 'Less' here." in screen


async def test_a_file_and_another_person(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("six o'clock", encoding="utf-8")
    screen = await shown(":as Grace", f":file {path} @bot read this", ":wait", ":file nowhere.txt", ":what")
    assert "You said: @bot read this" in screen
    assert "No such file" in screen
    assert ":click LABEL" in screen
