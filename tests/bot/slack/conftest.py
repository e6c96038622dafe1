"""A local Slack with our bot in it."""

from collections.abc import AsyncIterator

import pytest

from bot.slack.incoming import Me
from bot.slack.web import Web, open_web
from tests.slack_workspace import SlackWorkspace


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace() as opened:
        yield opened


@pytest.fixture
async def web(slack: SlackWorkspace) -> AsyncIterator[Web]:
    async with open_web(slack.api_url, slack.bot_token) as opened:
        yield opened


@pytest.fixture
def me(slack: SlackWorkspace) -> Me:
    return Me(team=slack.team.id, user=slack.bot.id, bot=slack.bot.bot_id or "", app=slack.app.id)
