"""Files and installation: downloads need the token, uploads their three steps, OAuth its code."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_workspace import SlackWorkspace
from tests.slack_workspace.connect import client


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace() as slack:
        yield slack


async def download(url: str, token: str = "") -> tuple[int, str, bytes]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
        return response.status, response.content_type, await response.read()


async def test_only_the_token_with_its_scope_gets_the_bytes(slack: SlackWorkspace) -> None:
    ada = slack.user("Ada")
    general = slack.channel("general", members=[ada, slack.bot])
    report = ada.file("report.pdf", b"%PDF-1.7 26 weeks", "application/pdf")
    with pytest.raises(SlackApiError, match="not_visible"):
        await client(slack).files_info(file=report.id)
    await ada.says("read this", in_=general, files=[report])
    told = (await client(slack).files_info(file=report.id))["file"]
    assert (told["name"], told["size"], told["mimetype"]) == ("report.pdf", 17, "application/pdf")
    url = told["url_private_download"]
    assert await download(url, slack.bot_token) == (200, "application/pdf", b"%PDF-1.7 26 weeks")
    login = await download(url)
    assert login[:2] == (200, "text/html")
    assert login[2].startswith(b"<!DOCTYPE html>")
    slack.admin.takes_scope("files:read")
    assert await download(url, slack.bot_token) == login
    with pytest.raises(SlackApiError, match="missing_scope"):
        await client(slack).files_info(file=report.id)


async def test_a_download_may_be_sent_to_another_host_fail_or_hang(slack: SlackWorkspace) -> None:
    ada = slack.user("Ada")
    report = ada.file("report.txt", b"a")
    await ada.says("read", in_=ada.dm, files=[report])
    url = (await client(slack).files_info(file=report.id))["file"]["url_private"]
    slack.faults.next("file_download", status=500)
    assert (await download(url, slack.bot_token))[0] == 500
    slack.faults.next("file_download", hang=True)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(download(url, slack.bot_token), 0.1)
    report.moved_to = f"{slack.platform.host}elsewhere"
    assert (await download(url, slack.bot_token))[0] == 404


async def test_files_that_are_not_there(slack: SlackWorkspace) -> None:
    ada = slack.user("Ada")
    report = ada.file("report.txt", b"a")
    report.channels.append(ada.dm.id)
    report.deleted = True
    with pytest.raises(SlackApiError, match="file_deleted"):
        await client(slack).files_info(file=report.id)
    with pytest.raises(SlackApiError, match="file_not_found"):
        await client(slack).files_info(file="F000")


async def test_an_upload_takes_three_steps_and_ends_as_a_message(slack: SlackWorkspace) -> None:
    ada = slack.user("Ada")
    general = slack.channel("general", members=[ada, slack.bot])
    question = await ada.says("the numbers?", in_=general)
    await client(slack).files_upload_v2(
        channel=general.id, thread_ts=question.ts, filename="numbers.csv", content="a,b", initial_comment="Here."
    )
    reply = await slack.reply_to(question)
    assert reply.screen == "Here.\n[file: numbers.csv]"
    assert reply.post.files[0].content == b"a,b"


async def test_an_upload_that_was_not_sent_cannot_be_completed(slack: SlackWorkspace) -> None:
    begun = await client(slack).files_getUploadURLExternal(filename="a.txt", length=3)
    with pytest.raises(SlackApiError, match="file_not_found"):
        await client(slack).files_completeUploadExternal(files=[{"id": begun["file_id"], "title": "a"}])
    async with aiohttp.ClientSession() as session, session.post(begun["upload_url"], data=b"too long") as response:
        assert response.status == 400


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated")  # slack_sdk still makes its header with it
async def test_an_app_is_installed_into_another_team_by_oauth(slack: SlackWorkspace) -> None:
    globex = slack.platform.world.team("Globex")
    slack.user("Gil", team=globex)
    app = slack.app
    page = f"{slack.platform.host}oauth/v2/authorize"
    query = {"client_id": app.client_id, "redirect_uri": "http://127.0.0.1/back", "state": "s1", "team": globex.id}
    async with (
        aiohttp.ClientSession() as session,
        session.get(page, params=query, allow_redirects=False) as response,
    ):
        back = response.headers["Location"]
    code = back.partition("code=")[2].partition("&")[0]
    assert back.endswith("state=s1")
    web = AsyncWebClient(base_url=slack.api_url)
    with pytest.raises(SlackApiError, match="bad_client_secret"):
        await web.oauth_v2_access(client_id=app.client_id, client_secret="wrong", code=code)
    granted = await web.oauth_v2_access(client_id=app.client_id, client_secret=app.client_secret, code=code)
    assert granted["team"]["id"] == globex.id
    assert (await client(slack, granted["access_token"]).auth_test())["team"] == "Globex"
    with pytest.raises(SlackApiError, match="invalid_code"):
        await web.oauth_v2_access(client_id=app.client_id, client_secret=app.client_secret, code=code)
