"""The teams that installed the app themselves: met when something of theirs comes, forgotten when they are gone."""

import time
from collections.abc import Callable

import structlog
from slack_sdk.errors import SlackApiError, SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator

from bot.slack.incoming import Me
from bot.slack.installing.store import Installations
from bot.slack.start import SCOPES
from bot.slack.teams import Team
from bot.slack.web import SlackAwayError, SlackError, Web, heard

log = structlog.get_logger()

GONE = frozenset({"account_inactive", "token_revoked", "invalid_refresh_token", "team_access_not_granted"})
"""What Slack says of a token when the app was taken out of a team; `invalid_auth` may be a firewall of ours."""
AHEAD = 120
"""Minutes before a token expires in which it is renewed."""

Make = Callable[[Web, Me], Team]


class InstalledTeams:
    """The database is asked each time, in one query: a team that another process has seen go is gone here, too."""

    def __init__(
        self, installations: Installations, *, web: Callable[[str], Web], make: Make, rotator: AsyncTokenRotator
    ) -> None:
        self._installations = installations
        self._web = web
        self._make = make
        self._rotator = rotator
        self._known: dict[str, Team] = {}

    async def of(self, team: str | None) -> Team | None:
        bot = await self._find(team) if team else None
        if team is None or bot is None:
            self._known.pop(team or "", None)
            return None
        known = self._known.get(team)
        return known if known and known.web.token == bot.bot_token else await self._meet(team, bot)

    async def check(self, team: str | None) -> Team | None:
        self._known.pop(team or "", None)
        return await self.of(team)

    async def _find(self, team: str) -> Bot | None:
        bot = await self._installations.find(team)
        if bot is None or not _expires(bot):
            return bot
        async with self._installations.alone(team):
            bot = await self._installations.find(team)
            return await self._renewed(team, bot) if bot and _expires(bot) else bot

    async def _renewed(self, team: str, bot: Bot) -> Bot | None:
        try:
            renewed = await self._rotator.perform_bot_token_rotation(bot=bot, minutes_before_expiration=AHEAD)
        except SlackTokenRotationError as error:
            code = _code(error.api_error)
            if code not in GONE:
                raise SlackAwayError(code) from error
            await self._let_go(team, bot, code)
            return None
        if renewed:
            await self._installations.async_save_bot(renewed)
        return renewed or bot

    async def _meet(self, team: str, bot: Bot) -> Team | None:
        """Everything that we keep of a team begins with Slack's word that we are there."""
        web = self._web(bot.bot_token)
        try:
            told = await heard(web.patient.auth_test())
        except SlackError as error:
            if error.code not in GONE:
                raise
            await self._let_go(team, bot, error.code)
            return None
        if missing := sorted(SCOPES.difference(bot.bot_scopes)):
            log.warning("scopes_missing", team=team, scopes=missing, advice="The team installs the app anew.")
        me = Me(
            team=team,
            user=bot.bot_user_id,
            bot=bot.bot_id,
            app=bot.app_id or "",
            url=told.get("url") or "",
            everybody=f"{team}:workspace",
        )
        self._known[team] = self._make(web, me)
        return self._known[team]

    async def _let_go(self, team: str, bot: Bot, code: str) -> None:
        if await self._installations.remove(team, token=bot.bot_token):
            log.warning("team_gone", team=team, reason=code)


def _expires(bot: Bot) -> bool:
    """Within the minutes in which we renew a token; one that is not renewed lasts."""
    ends = bot.bot_token_expires_at
    return bool(bot.bot_refresh_token) and ends is not None and ends <= time.time() + AHEAD * 60


def _code(error: SlackApiError) -> str:
    data = getattr(error.response, "data", None)
    return str(data.get("error")) if isinstance(data, dict) else "not_renewed"
