"""A workspace, a person and a channel, and the bot in it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import logs
from crag_graph.services import Services
from tests.scenarios.slack.bot import Bot, Options, Stage, scripted
from tests.slack_workspace import SlackWorkspace

MANIFEST = Path(__file__).parents[3] / "slack_manifest.yml"


@pytest.fixture(scope="session", autouse=True)
def _plain_logs() -> None:
    """As in production: what structlog does by default draws every traceback for seconds."""
    logs.configure("warning")


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace(manifest=MANIFEST) as opened:
        yield opened


@pytest.fixture
def stage(slack: SlackWorkspace, database_url: str, tmp_path: Path) -> Stage:
    ada = slack.user("Ada")
    travel = slack.channel("travel", members=[ada, slack.bot])
    return Stage(slack=slack, ada=ada, travel=travel, database_url=database_url, folder=tmp_path)


@pytest.fixture
def services() -> Services:
    return scripted()


@pytest.fixture
async def bot(stage: Stage, services: Services) -> AsyncIterator[Bot]:
    async with stage.bot(services, Options(http=True)) as running:
        yield running


@pytest.fixture(params=["socket", "http"])
async def either(request: pytest.FixtureRequest, stage: Stage) -> AsyncIterator[Bot]:
    """The bot by either transport."""
    async with stage.bot(options=Options(http=request.param == "http")) as running:
        yield running
