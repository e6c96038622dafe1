"""Files that people share."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web as http

from bot.slack.documents.files import FileError, Files
from bot.slack.web import SlackAwayError, Web
from tests.slack_workspace import SlackWorkspace
from tests.slack_workspace.world import StoredFile

PDF = b"%PDF-1.7 something"


@pytest.fixture
def files(slack: SlackWorkspace, web: Web) -> Files:
    return Files(web, token=slack.bot_token, api_url=slack.api_url)


@pytest.fixture
async def shared(slack: SlackWorkspace) -> StoredFile:
    ann = slack.user("Ann")
    place = slack.channel("travel", members=[ann, slack.bot])
    file = ann.file("rules.pdf", PDF, "application/pdf")
    await ann.says("here", in_=place, files=[file])
    return file


async def test_a_shared_file_is_fetched_with_the_token(files: Files, shared: StoredFile) -> None:
    got = await files.fetch(shared.id)
    assert (got.name, got.data) == ("rules.pdf", PDF)
    assert got.permalink.startswith("http")


async def test_the_login_page_is_not_taken_for_the_file(
    files: Files, shared: StoredFile, slack: SlackWorkspace, web: Web
) -> None:
    stranger = Files(web, token="xoxb-other", api_url=slack.api_url)
    with pytest.raises(FileError, match="lacks `files:read`"):
        await stranger.fetch(shared.id)


async def test_a_missing_scope_is_named(files: Files, shared: StoredFile, slack: SlackWorkspace) -> None:
    slack.admin.takes_scope("files:read")
    with pytest.raises(FileError, match="lacks `files:read`"):
        await files.fetch(shared.id)


async def test_a_page_that_was_really_shared_is_one(files: Files, slack: SlackWorkspace) -> None:
    ann = slack.user("Ann")
    page = ann.file("page.html", b"<!doctype html><p>Rules</p>", "text/html")
    await ann.says("here", in_=slack.channel("travel", members=[ann, slack.bot]), files=[page])
    assert b"Rules" in (await files.fetch(page.id)).data


async def test_a_file_of_another_service_is_refused(files: Files, shared: StoredFile) -> None:
    shared.external = True
    with pytest.raises(FileError, match="another service"):
        await files.fetch(shared.id)


async def test_a_deleted_file_is_said_to_be_gone(files: Files, shared: StoredFile) -> None:
    shared.deleted = True
    with pytest.raises(FileError, match="gone"):
        await files.fetch(shared.id)


@pytest.mark.parametrize(("status", "error"), [(403, FileError), (302, FileError), (503, SlackAwayError)])
async def test_a_download_that_fails_says_whether_another_try_helps(
    files: Files, shared: StoredFile, slack: SlackWorkspace, status: int, error: type[Exception]
) -> None:
    slack.faults.next("file_download", status=status)
    with pytest.raises(error):
        await files.fetch(shared.id)


@pytest.fixture
async def thief() -> AsyncIterator[tuple[str, list[str]]]:
    """A host that is not Slack's, and the tokens that it was sent."""
    seen: list[str] = []

    async def take(request: http.Request) -> http.Response:
        seen.append(request.headers.get("Authorization", ""))
        return http.json_response(
            {"ok": True, "file": {"name": "x.pdf", "url_private": str(request.url.with_path("/stolen"))}}
        )

    app = http.Application()
    app.router.add_route("*", "/{path:.*}", take)
    runner = http.AppRunner(app)
    await runner.setup()
    site = http.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}/", seen
    await runner.cleanup()


async def test_the_token_goes_to_no_other_host(web: Web, slack: SlackWorkspace, thief: tuple[str, list[str]]) -> None:
    address, seen = thief
    files = Files(web, token=slack.bot_token, api_url=slack.api_url)
    with pytest.raises(FileError, match="does not lie with Slack"):
        await files._download(address, "x.pdf")
    assert seen == []
