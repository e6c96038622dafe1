"""Socket Mode that goes silent is reported and renewed."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.slack.transports import Sockets
from bot.slack.web import Web
from tests.slack_workspace import SlackWorkspace


@pytest.fixture
def app(slack: SlackWorkspace) -> AsyncApp:
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id=slack.team.id, bot_token=slack.bot_token)

    return AsyncApp(authorize=authorize, signing_secret="none")


@pytest.fixture
async def sockets(app: AsyncApp, web: Web, slack: SlackWorkspace) -> AsyncIterator[Sockets]:
    made = Sockets(app, web, slack.app_token, silent=0.4)
    listening = asyncio.create_task(made.listen())
    yield made
    listening.cancel()
    await asyncio.wait([listening])


async def is_heard(sockets: Sockets) -> None:
    """Wait for Slack's hello."""
    async with asyncio.timeout(10):
        while sockets.silence:  # noqa: ASYNC110 - silence has no event
            await asyncio.sleep(0.01)


async def test_a_connection_that_said_hello_is_no_silence(sockets: Sockets, slack: SlackWorkspace) -> None:
    assert sockets.silence >= 0
    await slack.connected()
    await is_heard(sockets)


async def test_a_silence_is_reported_and_ends_when_slack_is_back(
    app: AsyncApp, web: Web, slack: SlackWorkspace
) -> None:
    slack.faults.next("apps.connections.open", status=503, times=2)
    sockets = Sockets(app, web, slack.app_token, silent=0.4)
    with structlog.testing.capture_logs() as logged:
        listening = asyncio.create_task(sockets.listen())
        await slack.connected()
        await is_heard(sockets)
        listening.cancel()
        await asyncio.wait([listening])
    assert any(_is_report(line) for line in logged), logged


async def test_connections_that_slack_ends_are_renewed(sockets: Sockets, slack: SlackWorkspace) -> None:
    await slack.connected()
    for reason in ("refresh_requested", "link_disabled", "too_many_websockets"):
        await slack.network.disconnects(reason)
        await slack.connected()
    await is_heard(sockets)


def _is_report(line: Any) -> bool:
    return line["event"] == "socket_silent" and "advice" in line
