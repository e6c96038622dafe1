"""Real clients against the local Slack: slack_sdk's Web client, Bolt's app in Socket Mode and behind a request URL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_workspace.workspace import SlackWorkspace


def client(slack: SlackWorkspace, token: str | None = None, *, patience: int = 5) -> AsyncWebClient:
    """A client that tries once, so that every refusal is seen."""
    token = slack.bot_token if token is None else token
    return AsyncWebClient(token, base_url=slack.api_url, timeout=patience, retry_handlers=[])


def bolt(slack: SlackWorkspace) -> AsyncApp:
    """An app without listeners; what fails in one of them is not acknowledged."""
    return AsyncApp(client=client(slack), signing_secret=slack.signing_secret, process_before_response=True)


@asynccontextmanager
async def in_socket_mode(app: AsyncApp, slack: SlackWorkspace) -> AsyncIterator[AsyncSocketModeHandler]:
    handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=0.5)
    already = slack.network.connections
    await handler.connect_async()  # type: ignore[no-untyped-call] # Bolt leaves it untyped
    await slack.connected(already + 1)
    try:
        yield handler
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call] # Bolt leaves it untyped


@asynccontextmanager
async def behind_a_request_url(app: AsyncApp, slack: SlackWorkspace) -> AsyncIterator[str]:
    runner = web.AppRunner(app.web_app("/slack/events"), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    url = f"http://{host}:{port}/slack/events"
    slack.deliver_to(url)
    try:
        yield url
    finally:
        await runner.cleanup()
