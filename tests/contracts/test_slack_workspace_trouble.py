"""Rate limits and faults: the local Slack goes wrong exactly when and how a test wants."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_workspace import SlackWorkspace, Timing
from tests.slack_workspace.connect import client
from tests.slack_workspace.world import Conversation


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace(rate_limits=True) as slack:
        yield slack


@pytest.fixture
def general(slack: SlackWorkspace) -> Conversation:
    return slack.channel("general", members=[slack.bot])


async def test_posts_are_limited_per_channel_and_slack_says_how_long_to_wait(
    slack: SlackWorkspace, general: Conversation
) -> None:
    other = slack.channel("other", members=[slack.bot])
    web = client(slack)
    for number in range(4):
        await web.chat_postMessage(channel=general.id, text=str(number))
    with pytest.raises(SlackApiError) as refused:
        await web.chat_postMessage(channel=general.id, text="one too many")
    assert refused.value.response.status_code == 429
    assert refused.value.response["error"] == "ratelimited"
    assert refused.value.response.headers["Retry-After"] == "1"
    await web.chat_postMessage(channel=other.id, text="elsewhere")
    slack.clock.advance(1)
    await web.chat_postMessage(channel=general.id, text="now")
    assert [message.text for message in slack.messages(general)] == ["0", "1", "2", "3", "now"]


async def test_a_tier_counts_calls_over_a_minute(slack: SlackWorkspace, general: Conversation) -> None:
    web = client(slack)
    posted = await web.chat_postMessage(channel=general.id, text="0")
    for number in range(50):
        await web.chat_update(channel=general.id, ts=posted["ts"], text=str(number))
    with pytest.raises(SlackApiError, match="ratelimited") as refused:
        await web.chat_update(channel=general.id, ts=posted["ts"], text="51")
    assert 55 <= int(refused.value.response.headers["Retry-After"]) <= 60
    slack.clock.advance(60)
    await web.chat_update(channel=general.id, ts=posted["ts"], text="51")


async def test_a_client_that_obeys_gets_through() -> None:
    async with SlackWorkspace(rate_limits=True, timing=Timing(minute=6)) as slack:
        general = slack.channel("general", members=[slack.bot])
        retrying = AsyncWebClient(
            slack.bot_token, base_url=slack.api_url, retry_handlers=[AsyncRateLimitErrorRetryHandler(max_retry_count=1)]
        )
        for number in range(5):
            await retrying.chat_postMessage(channel=general.id, text=str(number))
        assert slack.platform.rate_limits.refused == 1
        assert len(slack.messages(general)) == 5


async def test_the_next_call_can_be_refused_with_any_error(slack: SlackWorkspace, general: Conversation) -> None:
    slack.faults.next("chat.postMessage", error="invalid_blocks", times=2)
    web = client(slack)
    for _ in range(2):
        with pytest.raises(SlackApiError, match="invalid_blocks"):
            await web.chat_postMessage(channel=general.id, text="a")
    await web.chat_postMessage(channel=general.id, text="a")
    assert [call.error for call in slack.calls("chat.postMessage")] == ["invalid_blocks", "invalid_blocks", None]


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_a_call_can_end_in_an_http_status(slack: SlackWorkspace, general: Conversation, status: int) -> None:
    slack.faults.next("chat.postMessage", status=status, retry_after=3)
    with pytest.raises(SlackApiError) as failed:
        await client(slack).chat_postMessage(channel=general.id, text="a")
    assert failed.value.response.status_code == status
    assert failed.value.response.headers["Retry-After"] == "3"
    assert slack.messages(general) == []


@pytest.mark.parametrize("late", [False, True])
async def test_a_connection_can_be_cut_before_or_after_the_post(
    slack: SlackWorkspace, general: Conversation, late: bool
) -> None:
    slack.faults.next("chat.postMessage", drop=True, late=late)
    with pytest.raises(aiohttp.ClientError):
        await client(slack).chat_postMessage(channel=general.id, text="a")
    assert len(slack.messages(general)) == late


async def test_a_call_can_hang_until_the_client_gives_up(slack: SlackWorkspace, general: Conversation) -> None:
    slack.faults.next("chat.postMessage", hang=True)
    with pytest.raises(TimeoutError):
        await client(slack, patience=1).chat_postMessage(channel=general.id, text="a")
    assert slack.messages(general) == []


async def test_a_call_can_be_slow(slack: SlackWorkspace, general: Conversation) -> None:
    slack.faults.next("chat.postMessage", delay=0.2)
    started = asyncio.get_running_loop().time()
    await client(slack).chat_postMessage(channel=general.id, text="a")
    assert asyncio.get_running_loop().time() - started >= 0.2


async def test_quiet_is_disturbed_by_what_a_person_could_notice(slack: SlackWorkspace, general: Conversation) -> None:
    await client(slack).conversations_info(channel=general.id)
    await slack.quiet(0.05)

    async def later() -> None:
        await asyncio.sleep(0.02)
        await client(slack).chat_postMessage(channel=general.id, text="boo")

    talking = asyncio.create_task(later())
    with pytest.raises(AssertionError, match="not quiet"):
        await slack.quiet(0.3)
    await talking


async def test_a_workspace_may_say_what_a_finished_answer_is() -> None:
    async with SlackWorkspace(finished=lambda message: not message.text.endswith("…")) as slack:
        ada = slack.user("Ada")
        question = await ada.says("hello?", in_=ada.dm)
        posted = await client(slack).chat_postMessage(channel=ada.dm.id, thread_ts=question.ts, text="thinking…")
        waiting = asyncio.create_task(slack.reply_to(question))
        await client(slack).chat_update(channel=ada.dm.id, ts=posted["ts"], text="26 weeks")
        assert (await waiting).screen == "26 weeks"


async def test_waiting_in_vain_says_what_was_there(slack: SlackWorkspace) -> None:
    ada = slack.user("Ada")
    general = slack.channel("lobby", members=[ada, slack.bot])
    question = await ada.says("hello?", in_=general)
    with pytest.raises(AssertionError, match=r"Not within 0.1 s. The thread:\n<Ada in lobby: 'hello\?'>"):
        await slack.reply_to(question, within=0.1)
