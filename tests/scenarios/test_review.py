"""An admin reviews: from Slack into the browser, to yesterday's bad answer, and to a better one."""

import asyncio
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from psycopg import AsyncConnection

from bot.settings import bare_environment
from tests.browser.chromium import NoBrowserError, open_chromium
from tests.slack_workspace import Message, SlackWorkspace

pytestmark = pytest.mark.browser

MANIFEST = Path(__file__).parents[2] / "slack_manifest.yml"
OLD = "/crag-ingest text Leave\nParents get 16 weeks of parental leave."
NEW = "/crag-ingest text Leave\nParents get 26 weeks of parental leave."


@pytest.fixture
async def chromium() -> AsyncIterator[Browser]:
    try:
        async with open_chromium() as browser:
            yield browser
    except NoBrowserError as error:
        pytest.fail(str(error), pytrace=False)


async def test_an_admin_finds_yesterdays_bad_answer_judges_it_and_runs_it_again(
    database_url: str, tmp_path: Path, chromium: Browser
) -> None:
    async with SlackWorkspace(manifest=MANIFEST, patience=60.0) as slack:
        ada, ben = slack.user("Ada"), slack.user("Ben")
        travel = slack.channel("people", members=[ada, ben, slack.bot])
        async with serving(slack, database_url, tmp_path, admin=ada.id):
            await ada.runs(OLD, in_=travel, saying="Added")
            question = await ben.says("@bot How many weeks of parental leave do parents get?", in_=travel)
            answer = await slack.reply_to(question, saying="16 weeks")
            await ben.clicks("Not helpful", on=answer)
            await a_day_passes(database_url)
            await ada.runs(NEW, in_=travel, saying="Replaced")

            assert "for admins" in (await ben.runs("/crag-traces", in_=travel)).screen
            link = address_in(await ada.runs("/crag-traces", in_=travel, saying="Review what I answered"))

            page = await chromium.new_page()
            await page.goto(link)
            await page.get_by_role("button", name="Sign in").click()
            await page.get_by_role("link", name="Not helpful").click()  # the first click,
            await page.get_by_role("link", name="How many weeks").click()  # and the second

            await expect(page.get_by_role("region", name="In short")).to_contain_text("correct")
            await expect(page.locator(".passage mark.kept").first).to_contain_text("16 weeks")
            await expect(page.get_by_role("link", name="Ben")).to_be_visible()

            await page.get_by_role("radio", name="wrong").check()
            await page.get_by_label("Note").fill("The rule changed to 26 weeks.")
            await page.get_by_role("button", name="Store the review").click()
            await expect(page.locator(".history")).to_contain_text("The rule changed to 26 weeks.")

            await page.get_by_role("button", name="Run again now").click()
            await expect(page.get_by_role("region", name="Then")).to_contain_text("16 weeks")
            await expect(page.get_by_role("region", name="Now")).to_contain_text("26 weeks")
            await page.close()
        assert slack.replies(question)[-1].ts == answer.ts


@asynccontextmanager
async def serving(slack: SlackWorkspace, database_url: str, folder: Path, *, admin: str) -> AsyncIterator[None]:
    """`crag serve` as its own process, connected."""
    settings = {
        "DATABASE_URL": database_url,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "CRAG_SLACK_API_URL": slack.api_url,
        "CRAG_ADMINS": admin,
        "CRAG_DATA_DIR": str(folder / "data"),
        "CRAG_PORT": str(free_port()),
        "CRAG_LOG_LEVEL": "warning",
    }
    command = (sys.executable, "-c", "from bot.cli import main; main()", "serve")
    process = await asyncio.create_subprocess_exec(*command, env=bare_environment() | settings, cwd=folder)
    try:
        await slack.connected()
        yield
    finally:
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 30) == 0


async def a_day_passes(database_url: str) -> None:
    async with await AsyncConnection.connect(database_url) as connection:
        await connection.execute("UPDATE runs SET started_at = started_at - interval '1 day'")


def address_in(message: Message) -> str:
    found = re.search(r"http://[^|>\s\"]+/admin/sign-in/[^|>\s\"]+", str(message.post))
    assert found, message.screen
    return found[0]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
