"""The log of the running service, at its most talkative, tells what happened and never what was said."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.settings import bare_environment
from tests.scenarios.test_review import free_port
from tests.slack_workspace import SlackWorkspace

MANIFEST = Path(__file__).parents[3] / "slack_manifest.yml"
SECRET = "zanzibarquest"
SIGNING_SECRET = "5160e7a4b3c2d1f0"


@asynccontextmanager
async def serving(slack: SlackWorkspace, database_url: str, folder: Path, log: Path) -> AsyncIterator[None]:
    """`crag serve` as its own process, connected, with everything that it prints in a file."""
    settings = {
        "DATABASE_URL": database_url,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "CRAG_SLACK_API_URL": slack.api_url,
        "CRAG_DATA_DIR": str(folder / "data"),
        "CRAG_PORT": str(free_port()),
        "CRAG_LOG_LEVEL": "debug",
    }
    command = (sys.executable, "-c", "from bot.cli import main; main()", "serve")
    with log.open("wb") as printed:
        process = await asyncio.create_subprocess_exec(
            *command, env=bare_environment() | settings, cwd=folder, stdout=printed, stderr=printed
        )
        try:
            await slack.connected()
            yield
        finally:
            process.terminate()
            assert await asyncio.wait_for(process.wait(), 30) == 0


async def test_no_line_holds_a_text_or_a_token_and_each_question_has_one_line(
    database_url: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    async with SlackWorkspace(manifest=MANIFEST, patience=60.0) as slack:
        ada = slack.user("Ada")
        travel = slack.channel("travel", members=[ada, slack.bot])
        async with serving(slack, database_url, tmp_path, log):
            await ada.runs(f"/crag-ingest text Leave\nParents get 16 weeks of {SECRET}.", in_=travel, saying="Added")
            question = await ada.says(f"@bot How many weeks of {SECRET} do parents get?", in_=travel)
            answer = await slack.reply_to(question, saying="16 weeks")
            await ada.clicks("Not helpful", on=answer)
            await ada.runs(f"/crag-ask What is {SECRET}?", in_=travel, saying=SECRET)
            await ada.runs("/crag-forget everything", in_=travel, saying="Forgotten, everything")
    lines = log.read_text("utf-8").splitlines()
    for hidden in (SECRET, slack.bot_token, slack.app_token, SIGNING_SECRET):
        assert not [line for line in lines if hidden in line]
    told = [json.loads(line) for line in lines]
    questions = [line for line in told if line["event"] == "question"]
    assert [line["state"] for line in questions] == ["answered", "answered"]
    assert {"trace", "team", "channel", "verdict", "milliseconds", "calls", "tokens"} <= set(questions[0])
