"""Bolt's own Socket Mode client lives with the local Slack as it does with the real one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_workspace import SlackWorkspace, Timing


@asynccontextmanager
async def connected(app: AsyncApp, slack: SlackWorkspace) -> AsyncIterator[AsyncSocketModeHandler]:
    handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=0.1)
    already = len(slack.platform.sockets[slack.app.id].connections)
    await handler.connect_async()  # type: ignore[no-untyped-call] # Bolt leaves it untyped
    await slack.connected(already + 1)
    try:
        yield handler
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call] # Bolt leaves it untyped


def bolt(slack: SlackWorkspace) -> AsyncApp:
    return AsyncApp(
        client=AsyncWebClient(slack.bot_token, base_url=slack.api_url),
        signing_secret=slack.signing_secret,
        process_before_response=True,
    )


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace() as slack:
        yield slack


async def test_a_mention_is_heard_twice_and_answered_in_its_thread(slack: SlackWorkspace) -> None:
    app = bolt(slack)
    heard: list[dict[str, Any]] = []

    @app.event("app_mention")
    async def mentioned(event: dict[str, Any], client: AsyncWebClient) -> None:
        heard.append(event)
        await client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text="26 weeks")

    @app.event("message")
    async def said(event: dict[str, Any]) -> None:
        heard.append(event)

    ada = slack.user("Ada")
    general = slack.channel("general", members=[ada, slack.bot])
    async with connected(app, slack):
        question = await ada.says("@bot how many weeks?", in_=general)
        reply = await slack.reply_to(question)
        await slack.until(lambda: len(heard) == 2)

    assert reply.screen == "26 weeks"
    assert {event["type"] for event in heard} == {"app_mention", "message"}
    assert all(event["text"] == f"<@{slack.bot.id}> how many weeks?" for event in heard)


async def test_an_event_that_is_not_acknowledged_comes_again() -> None:
    async with SlackWorkspace(timing=Timing(ack_within=0.2, retry_after=(0.0,))) as slack:
        app = bolt(slack)
        tries: list[str | None] = []

        @app.event("message")
        async def said(request: AsyncBoltRequest) -> None:
            tries.append(request.headers.get("x-slack-retry-num", ["none"])[0])
            if len(tries) == 1:
                raise ValueError("not this time")

        ada = slack.user("Ada")
        async with connected(app, slack):
            await ada.says("hello", in_=ada.dm)
            await slack.until(lambda: slack.deliveries[0].ack)
    assert slack.deliveries[0].failures == ["timeout"]
    assert tries == ["0", "1"]
