"""Bolt's own Socket Mode client lives with the local Slack as it does with the real one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_workspace import SlackWorkspace, Timing
from tests.slack_workspace.connect import bolt, client, in_socket_mode


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
    async with in_socket_mode(app, slack):
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
        async with in_socket_mode(app, slack):
            await ada.says("hello", in_=ada.dm)
            await slack.until(lambda: slack.deliveries[0].ack)
    assert slack.deliveries[0].failures == ["timeout"]
    assert tries == ["0", "1"]


async def test_with_three_connections_each_event_reaches_one_of_them(slack: SlackWorkspace) -> None:
    app = bolt(slack)
    heard: list[str] = []

    @app.event("message")
    async def said(event: dict[str, Any]) -> None:
        heard.append(event["ts"])

    ada = slack.user("Ada")
    async with AsyncExitStack() as stack:
        for _ in range(3):
            await stack.enter_async_context(in_socket_mode(app, slack))
        said_all = [await ada.says(f"hello {n}", in_=ada.dm) for n in range(30)]
        await slack.until(lambda: len(heard) >= 30)
    assert sorted(heard) == [message.ts for message in said_all]
    assert len({delivery.ack.by for delivery in slack.deliveries if delivery.ack}) == 3


async def test_whoever_waits_for_the_app_sees_it_come(slack: SlackWorkspace) -> None:
    waiting = asyncio.create_task(slack.connected(2, within=5))
    async with in_socket_mode(bolt(slack), slack), in_socket_mode(bolt(slack), slack):
        await waiting


async def test_the_eleventh_connection_is_turned_away(slack: SlackWorkspace) -> None:
    opener = client(slack)
    async with aiohttp.ClientSession() as session:
        sockets = []
        for _ in range(11):
            opened = await opener.apps_connections_open(app_token=slack.app_token)
            sockets.append(await session.ws_connect(opened["url"]))
        first = await sockets[0].receive_json()
        last = await sockets[10].receive_json()
    assert (first["type"], first["num_connections"]) == ("hello", 1)
    assert first["debug_info"]["approximate_connection_time"] > 0
    assert (last["type"], last["reason"]) == ("disconnect", "too_many_websockets")


async def test_a_ticket_opens_one_connection_only(slack: SlackWorkspace) -> None:
    opened = await client(slack).apps_connections_open(app_token=slack.app_token)
    async with aiohttp.ClientSession() as session:
        await session.ws_connect(opened["url"])
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(opened["url"])


async def test_the_bot_token_opens_no_connection(slack: SlackWorkspace) -> None:
    with pytest.raises(SlackApiError, match="not_allowed_token_type"):
        await client(slack).apps_connections_open(app_token=slack.bot_token)


@pytest.mark.parametrize("reason", ["refresh_requested", "link_disabled"])
async def test_after_a_disconnect_the_client_comes_back_and_hears_on(slack: SlackWorkspace, reason: str) -> None:
    app = bolt(slack)
    heard: list[str] = []

    @app.event("message")
    async def said(event: dict[str, Any]) -> None:
        heard.append(event["text"])

    ada = slack.user("Ada")
    async with in_socket_mode(app, slack):
        await ada.says("before", in_=ada.dm)
        await slack.until(lambda: heard == ["before"])
        await slack.network.disconnects(reason)
        await slack.connected()
        await ada.says("after", in_=ada.dm)
        await slack.until(lambda: heard == ["before", "after"])


async def test_a_refresh_is_announced_and_nothing_is_lost_over_it(slack: SlackWorkspace) -> None:
    app = bolt(slack)
    heard: list[str] = []

    @app.event("message")
    async def said(event: dict[str, Any]) -> None:
        heard.append(event["text"])

    ada = slack.user("Ada")
    async with in_socket_mode(app, slack):
        refreshing = asyncio.create_task(slack.network.refreshes())
        for number in range(40):
            await ada.says(str(number), in_=ada.dm)
            await asyncio.sleep(0.01)
        await refreshing
        await slack.until(lambda: len(set(heard)) == 40)
        await slack.until(lambda: all(delivery.ack for delivery in slack.deliveries))


async def test_what_was_under_way_when_the_line_was_cut_is_delivered_again(slack: SlackWorkspace) -> None:
    app = bolt(slack)
    heard: list[str] = []

    @app.event("message")
    async def said(event: dict[str, Any]) -> None:
        heard.append(event["text"])
        if len(heard) == 1:
            await slack.network.cuts()

    ada = slack.user("Ada")
    async with in_socket_mode(app, slack):
        await ada.says("hello", in_=ada.dm)
        await slack.until(lambda: slack.deliveries[0].ack)
    assert heard == ["hello", "hello"]
    assert slack.deliveries[0].failures[0] == "connection_failed"


async def test_an_app_that_is_not_there_is_tried_until_slack_gives_up(slack: SlackWorkspace) -> None:
    ada = slack.user("Ada")
    await ada.says("anybody there?", in_=ada.dm)
    delivery = slack.deliveries[0]
    await slack.until(lambda: len(delivery.tries) == 4)
    assert [retry.number for retry in delivery.tries] == [0, 1, 2, 3]


async def test_a_redelivered_event_keeps_its_id(slack: SlackWorkspace) -> None:
    app = bolt(slack)
    heard: list[tuple[str, str]] = []

    @app.event("message")
    async def said(body: dict[str, Any], request: AsyncBoltRequest) -> None:
        heard.append((body["event_id"], request.headers["x-slack-retry-num"][0]))

    ada = slack.user("Ada")
    async with in_socket_mode(app, slack):
        question = await ada.says("hello", in_=ada.dm)
        await slack.until(lambda: len(heard) == 1)
        slack.network.redelivers(question, times=3)
        await slack.until(lambda: len(heard) == 4)
        slack.network.redelivers(question, attempt=0)
        await slack.until(lambda: len(heard) == 5)
    assert len({event_id for event_id, _ in heard}) == 1
    assert sorted(number for _, number in heard) == ["0", "0", "1", "2", "3"]


async def test_held_events_come_late(slack: SlackWorkspace) -> None:
    app = bolt(slack)
    heard: list[str] = []

    @app.event("message")
    async def said(event: dict[str, Any]) -> None:
        heard.append(event["text"])

    ada = slack.user("Ada")
    slack.network.holds_events(0.2)
    async with in_socket_mode(app, slack):
        await ada.says("hello", in_=ada.dm)
        await asyncio.sleep(0.1)
        assert heard == []
        await slack.until(lambda: heard == ["hello"])
