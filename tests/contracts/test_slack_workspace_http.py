"""Events, commands and buttons by signed HTTP: what Bolt verifies is what the local Slack signs."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.request.async_request import AsyncBoltRequest

from tests.slack_workspace import SlackWorkspace, Timing
from tests.slack_workspace.connect import behind_a_request_url, bolt, client
from tests.slack_workspace.http_delivery import sign


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace() as slack:
        yield slack


@asynccontextmanager
async def serving(answer: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/slack/events", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}/slack/events"
    finally:
        await runner.cleanup()


async def test_bolt_accepts_the_signature_of_events_commands_and_buttons(slack: SlackWorkspace) -> None:
    app = bolt(slack)
    heard: list[str] = []

    @app.event("message")
    async def said(event: dict[str, Any]) -> None:
        heard.append(event["text"])

    @app.command("/hello")
    async def ran(ack: AsyncAck, command: dict[str, Any]) -> None:
        await ack(f"You wrote {command['text']}")

    @app.action("press")
    async def pressed(ack: AsyncAck) -> None:
        await ack()
        heard.append("pressed")

    ada = slack.user("Ada")
    button = {"type": "button", "action_id": "press", "text": {"type": "plain_text", "text": "Press"}}
    async with behind_a_request_url(app, slack):
        question = await ada.says("hello & welcome", in_=ada.dm)
        await slack.until(lambda: heard == ["hello &amp; welcome"])
        shown = await ada.runs("/hello to you", in_=ada.dm)
        await client(slack).chat_postMessage(
            channel=ada.dm.id, thread_ts=question.ts, text="a", blocks=[{"type": "actions", "elements": [button]}]
        )
        outcome = await ada.clicks("Press", on=await slack.reply_to(question))
    assert shown.screen == "You wrote to you"
    assert outcome.ok
    assert heard[-1] == "pressed"


@pytest.mark.parametrize(
    ("timestamp", "secret"),
    [("now", "another secret"), ("1700000000", None), ("yesterday", None)],
    ids=["forged", "old", "no number"],
)
async def test_what_slack_would_not_send_is_refused_by_bolt(
    slack: SlackWorkspace, timestamp: str, secret: str | None
) -> None:
    timestamp = str(int(time.time())) if timestamp == "now" else timestamp
    body = b'{"type":"event_callback"}'
    headers = {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": sign(secret or slack.signing_secret, timestamp, body),
    }
    async with behind_a_request_url(bolt(slack), slack) as url, aiohttp.ClientSession() as session:
        response = await session.post(url, data=body, headers=headers)
    assert response.status in {401, 500}  # Bolt itself answers 500 to a timestamp that is no number


async def test_a_slow_or_failing_url_gets_the_event_again_with_the_reason() -> None:
    seen: list[tuple[str | None, str | None]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.headers.get("X-Slack-Retry-Num"), request.headers.get("X-Slack-Retry-Reason")))
        if len(seen) == 1:
            raise web.HTTPInternalServerError
        if len(seen) == 2:
            await asyncio.sleep(1)
        return web.Response()

    timing = Timing(ack_within=0.2, retry_after=(0.0, 0.05, 0.05))
    async with serving(answer) as url, SlackWorkspace(timing=timing) as slack:
        slack.deliver_to(url)
        ada = slack.user("Ada")
        await ada.says("hello", in_=ada.dm)
        await slack.until(lambda: slack.deliveries[0].ack)
    assert seen == [(None, None), ("1", "http_error"), ("2", "http_timeout")]


async def test_an_app_may_ask_for_no_retry(slack: SlackWorkspace) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=503, headers={"X-Slack-No-Retry": "1"})

    async with serving(answer) as url:
        slack.deliver_to(url)
        ada = slack.user("Ada")
        await ada.says("hello", in_=ada.dm)
        await slack.until(lambda: slack.deliveries[0].failures)
        await slack.quiet(0.3)
    assert len(slack.deliveries[0].tries) == 1


async def test_a_url_that_nobody_serves_is_a_failed_connection(slack: SlackWorkspace) -> None:
    slack.deliver_to("http://127.0.0.1:9/slack/events")
    ada = slack.user("Ada")
    await ada.says("hello", in_=ada.dm)
    shown = await ada.runs("/hello", in_=ada.dm)
    await slack.until(lambda: slack.deliveries[0].failures)
    assert slack.deliveries[0].failures[0] == "connection_failed"
    assert shown.screen == '/hello failed with the error "dispatch_failed"'


async def test_bolt_shows_the_retry_headers(slack: SlackWorkspace) -> None:
    app = bolt(slack)
    heard: list[str] = []

    @app.event("message")
    async def said(request: AsyncBoltRequest) -> None:
        heard.append(request.headers.get("x-slack-retry-num", ["none"])[0])

    ada = slack.user("Ada")
    async with behind_a_request_url(app, slack):
        question = await ada.says("hello", in_=ada.dm)
        slack.network.redelivers(question, times=2)
        await slack.until(lambda: len(heard) == 3)
    assert sorted(heard) == ["1", "2", "none"]
