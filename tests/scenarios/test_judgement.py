"""A judgement changes something: reviewed, corrected, calibrated, told, and erased by whom it is about."""

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect
from procrastinate import App, PsycopgConnector
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database.engine import JOBS_SCHEMA, with_schema
from bot.jobs import Kind
from bot.settings import bare_environment
from tests.bot.cli.test_calibrate import cases
from tests.scenarios.slack.test_erasing import in_files, places_of
from tests.scenarios.test_review import MANIFEST, address_in, chromium, serving
from tests.slack_workspace import SlackWorkspace

pytestmark = pytest.mark.browser

__all__ = ["chromium"]

DOCUMENT = "/crag-ingest text Odds and ends\nAnything hot and brown that will not pour is seen to on the second floor."
QUESTION = "Who repairs the coffee machine?"
CORRECTION = "Dolores of facilities repairs the coffee machine, extension 4711."


@pytest.mark.timeout(240)
async def test_a_wrong_verdict_is_corrected_calibrated_told_and_erased(
    database_url: str, engine: AsyncEngine, tmp_path: Path, chromium: Browser
) -> None:
    async with SlackWorkspace(manifest=MANIFEST, patience=60.0) as slack:
        ada, ben = slack.user("Ada"), slack.user("Ben")
        place = slack.channel("office", members=[ada, ben, slack.bot])
        async with serving(slack, database_url, tmp_path, admin=ada.id):
            await ada.runs(DOCUMENT, in_=place, saying="Added")
            asked = await ben.says(f"@bot {QUESTION}", in_=place)
            first = await slack.reply_to(asked)
            assert "4711" not in first.screen
            assert (await ben.clicks("Tell me when you know", on=first)).ok
            await ben.is_shown("I will tell you", in_=place)

            link = address_in(await ada.runs("/crag-traces", in_=place, saying="Review what I answered"))
            page = await chromium.new_page()
            await page.goto(link)
            await page.get_by_role("button", name="Sign in").click()
            await judges(page)
            await corrects(page)
            await marks_as_written(page, link.partition("/admin")[0])
            await page.close()

        file = tmp_path / "cases.jsonl"
        await crag(tmp_path, database_url, "traces", "export", "--output", str(file))
        exported = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        assert [(case["question"], case["verdict"]) for case in exported] == [(QUESTION, "correct")]
        assert exported[0]["said"] != "correct"
        (tmp_path / "others").mkdir()
        others = cases(tmp_path / "others", 40).read_text("utf-8")
        file.write_text(f"{file.read_text('utf-8')}{others}\n", "utf-8")
        told = await crag(tmp_path, database_url, "calibrate", str(file), "--apply")
        assert "right verdicts" in told
        assert "41 cases" in told

        async with serving(slack, database_url, tmp_path, admin=ada.id):
            again = await ben.says(f"@bot {QUESTION}", in_=place)
            answer = await slack.reply_to(again, saying="4711")
            assert "Answered from your documents" in answer.screen
            assert "Answer by Ada" in answer.screen

            await night_falls(database_url)
            await slack.until(lambda: [one for one in slack.messages(ben.dm) if "I do now" in one.screen])
            (message,) = [one for one in slack.messages(ben.dm) if "I do now" in one.screen]
            assert "4711" in message.screen

            assert await places_of(engine, ben.id)
            await ben.runs("/crag-forget everything", in_=place, saying="Forgotten, everything")
            await slack.quiet()
            assert await places_of(engine, ben.id) == {}
            assert in_files(tmp_path / "data", ben.id, QUESTION) == []


async def judges(page: Page) -> None:
    await page.get_by_role("link", name="Traces").first.click()
    await page.get_by_role("link", name=QUESTION).click()
    await page.get_by_role("radio", name="wrong").check()
    await page.get_by_role("radio", name="should have been correct").check()
    await page.get_by_role("button", name="Store the review").click()
    await expect(page.locator(".history")).to_contain_text("should have been correct")


async def corrects(page: Page) -> None:
    await page.get_by_text("Correct the answer", exact=True).click()
    await page.get_by_label("Its answer").fill(CORRECTION)
    await page.get_by_label("Who may see it").select_option("here")
    await page.get_by_role("button", name="Add to the library").click()
    await expect(page.get_by_role("status")).to_contain_text("Your answer is in the library")


async def marks_as_written(page: Page, address: str) -> None:
    await page.goto(f"{address}/admin/gaps")
    if await page.get_by_role("button", name="Group them").count():
        await page.get_by_role("button", name="Group them").click()
    await page.get_by_role("button", name=f"Mark as written: {QUESTION}").click()
    await expect(page.locator(".badge.written")).to_be_visible()


async def crag(folder: Path, database_url: str, *arguments: str) -> str:
    """The command at a terminal, beside the service's data."""
    settings = {"DATABASE_URL": database_url, "CRAG_DATA_DIR": str(folder / "data")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from bot.cli import main; main()", *arguments),
        env=bare_environment() | settings,
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()


async def night_falls(database_url: str) -> None:
    """What is put in the queue every night is put there now."""
    app = App(connector=PsycopgConnector(conninfo=with_schema(database_url, JOBS_SCHEMA)))
    async with app.open_async():
        await app.configure_task(Kind.TIDY.value, queue=Kind.TIDY.value).defer_async(timestamp=int(time.time()))
