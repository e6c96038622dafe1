"""The command itself against a Slack: as somebody starts it who has just pasted the manifest and three tokens."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.scenarios.slack.bot import Stage

ROOT = Path(__file__).parents[3]


def environment(stage: Stage, **changed: str) -> dict[str, str]:
    plain = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": stage.database_url,
        "CRAG_DATA_DIR": str(stage.folder / "data"),
        "CRAG_SLACK_API_URL": stage.slack.api_url,
        "CRAG_ADMINS": stage.ada.id,
        "CRAG_PORT": "0",
        "SLACK_BOT_TOKEN": stage.slack.bot_token,
        "SLACK_APP_TOKEN": stage.slack.app_token,
    }
    return plain | changed


async def start(stage: Stage, *arguments: str, **changed: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from bot.cli import main; main()",
        *arguments,
        cwd=stage.folder,
        env=environment(stage, **changed) | {"PYTHONPATH": str(ROOT)},
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )


@asynccontextmanager
async def running(stage: Stage, *arguments: str, **changed: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await start(stage, *arguments, **changed)
    reading = asyncio.create_task(process.stderr.read()) if process.stderr else None
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if reading:
            await reading


async def test_from_three_tokens_to_a_cited_answer_and_through_a_crash(stage: Stage) -> None:
    async with running(stage, "serve") as process:
        await stage.slack.until(lambda: stage.slack.network.connections, within=60)
        await stage.ada.runs(
            "/crag-ingest text Parental leave --workspace\nEvery parent gets sixteen weeks of paid parental leave.",
            in_=stage.travel,
        )
        await stage.ada.is_shown("Added Parental leave", in_=stage.travel, within=30)
        question = await stage.ada.says("@bot How many weeks of parental leave do I get?", in_=stage.travel)
        reply = await stage.slack.reply_to(question, saying="sixteen weeks", within=30)
        assert "[1] Parental leave · internal" in reply.screen
        process.kill()
        await process.wait()
    lost = await stage.ada.says("@bot And how many weeks of it are paid?", in_=question)
    async with running(stage, "serve") as process:
        await stage.slack.until(lambda: stage.slack.network.connections, within=60)
        stage.slack.network.redelivers(lost)
        await stage.slack.reply_to(lost, until=lambda one: bool(one.buttons), within=40)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 30) == 0


async def test_a_wrong_token_ends_the_start_with_one_line(stage: Stage) -> None:
    process = await start(stage, "serve", SLACK_BOT_TOKEN="xoxb-wrong")
    _, said = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 2
    last = said.decode().strip().split("\n")[-1]
    assert last.startswith("crag: SLACK_BOT_TOKEN is not accepted by Slack (invalid_auth).")
