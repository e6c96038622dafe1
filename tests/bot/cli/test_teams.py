import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from slack_sdk.oauth.installation_store import Installation
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cli.errors import UseError
from bot.cli.teams import list_them
from bot.settings import Settings, read
from bot.slack.installing.store import Installations
from bot.slack.start import SCOPES
from tests.slack_workspace import SlackWorkspace
from tests.slack_workspace.installation import Installation as Installed


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace() as opened:
        yield opened


def by_oauth(settings: Settings, slack: SlackWorkspace) -> Settings:
    assert settings.database_url
    return read(
        {
            "DATABASE_URL": settings.database_url.get_secret_value(),
            "CRAG_SLACK_API_URL": slack.api_url,
            "CRAG_SLACK_INSTALL": "oauth",
            "CRAG_SLACK_MODE": "http",
            "SLACK_SIGNING_SECRET": slack.signing_secret,
            "SLACK_CLIENT_ID": slack.app.client_id,
            "SLACK_CLIENT_SECRET": slack.app.client_secret,
            "CRAG_PUBLIC_URL": "https://crag.example.com",
        },
        None,
    )


async def store(engine: AsyncEngine, slack: SlackWorkspace, installed: Installed, scopes: frozenset[str]) -> None:
    await Installations(engine, slack.app.client_id).async_save(
        Installation(
            app_id=slack.app.id,
            team_id=installed.team.id,
            team_name=installed.team.name,
            bot_token=installed.token,
            bot_id=installed.bot.bot_id,
            bot_user_id=installed.bot.id,
            bot_scopes=sorted(scopes),
            user_id="U1",
            installed_at=datetime.now(UTC).timestamp(),
        )
    )


async def test_each_team_is_listed_with_how_it_stands(
    settings: Settings, engine: AsyncEngine, slack: SlackWorkspace, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = by_oauth(settings, slack)
    assert await list_them(chosen, as_json=False) == 0
    assert "/slack/install" in capsys.readouterr().out
    gone, old = slack.other_team("Globex"), slack.other_team("Initech")
    await store(engine, slack, slack.installation, SCOPES)
    assert await list_them(chosen, as_json=True) == 0
    capsys.readouterr()
    await store(engine, slack, gone, SCOPES)
    await store(engine, slack, old, SCOPES - {"files:read"})
    gone.revoked = "account_inactive"
    assert await list_them(chosen, as_json=True) == 1
    printed = capsys.readouterr().out
    states = {team["name"]: team["state"] for team in json.loads(printed)}
    assert states == {
        "Acme": "ready",
        "Globex": "removed (account_inactive)",
        "Initech": "lacks files:read: install it anew",
    }
    assert "xoxb" not in printed
    await list_them(chosen, as_json=False)
    assert "Globex" in capsys.readouterr().out


async def test_with_a_token_in_the_settings_there_is_its_team(
    settings: Settings, slack: SlackWorkspace, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_APP_TOKEN": slack.app_token}
    assert await list_them(read(tokens | {"CRAG_SLACK_API_URL": slack.api_url}, None), as_json=True) == 0
    assert json.loads(capsys.readouterr().out)[0]["team"] == slack.team.id
    wrong = read(tokens | {"CRAG_SLACK_API_URL": slack.api_url, "SLACK_BOT_TOKEN": "xoxb-wrong"}, None)
    with pytest.raises(UseError, match="SLACK_BOT_TOKEN is not accepted"):
        await list_them(wrong, as_json=True)


async def test_without_slack_it_says_what_to_set(settings: Settings) -> None:
    with pytest.raises(UseError, match="CRAG_SLACK_INSTALL=oauth"):
        await list_them(settings, as_json=True)
