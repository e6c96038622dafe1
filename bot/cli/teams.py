"""`crag team`: the Slack workspaces that the bot is in."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from slack_sdk.oauth.installation_store import Bot

from bot.cli.errors import UseError
from bot.cli.printing import line
from bot.settings import Settings
from bot.slack.installing.store import Installations
from bot.slack.installing.teams import GONE
from bot.slack.start import SCOPES, SlackSetupError, introduce
from bot.slack.web import SlackError, heard, open_web
from bot.wiring import open_database

READY = "ready"
COLUMNS = ("team", "name", "bot", "installed_at", "state")


async def list_them(settings: Settings, *, as_json: bool) -> int:
    """1 where the bot cannot work in one of them."""
    if not settings.has_slack:
        raise UseError("Slack is not set up: set SLACK_BOT_TOKEN, or CRAG_SLACK_INSTALL=oauth.")
    teams = await (_installed(settings) if settings.slack_install == "oauth" else _only_one(settings))
    if as_json:
        print(line(teams))
    else:
        _print(Console(highlight=False), teams)
    return int(any(team["state"] != READY for team in teams))


async def _installed(settings: Settings) -> list[Mapping[str, Any]]:
    async with open_database(settings) as database:
        found = await Installations(database.engine, settings.slack_client_id or "").list()
    return [await _told(settings, bot) for bot in found]


async def _told(settings: Settings, bot: Bot) -> Mapping[str, Any]:
    return {
        "team": bot.team_id,
        "name": bot.team_name,
        "bot": bot.bot_user_id,
        "installed_at": datetime.fromtimestamp(bot.installed_at, UTC),
        "state": await _state(settings, bot),
    }


async def _state(settings: Settings, bot: Bot) -> str:
    try:
        async with open_web(settings.slack_api_url, bot.bot_token) as web:
            await heard(web.patient.auth_test())
    except SlackError as error:
        return f"removed ({error.code})" if error.code in GONE else f"Slack does not answer ({error.code})"
    missing = sorted(SCOPES.difference(bot.bot_scopes))
    return f"lacks {', '.join(missing)}: install it anew" if missing else READY


async def _only_one(settings: Settings) -> list[Mapping[str, Any]]:
    token = settings.slack_bot_token.get_secret_value() if settings.slack_bot_token else ""
    async with open_web(settings.slack_api_url, token) as web:
        try:
            me = await introduce(web)
        except SlackSetupError as error:
            raise UseError(str(error)) from error
    return [{"team": me.team, "name": me.url, "bot": me.user, "installed_at": None, "state": READY}]


def _print(console: Console, teams: list[Mapping[str, Any]]) -> None:
    if not teams:
        console.print("The app is installed in no team yet. Open /slack/install at the address of `crag serve`.")
        return
    table = Table(*(name.replace("_", " ") for name in COLUMNS), box=None, header_style="bold")
    for team in teams:
        table.add_row(*(Text(_cell(team[name])) for name in COLUMNS))
    console.print(table)


def _cell(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value or "")
