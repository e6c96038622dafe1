"""What is checked at Slack before the bot starts: each token, each scope; what is wrong is named with what to do."""

from collections.abc import Mapping

import structlog

from bot.slack.incoming import Me
from bot.slack.web import SlackError, Web, answered, heard

log = structlog.get_logger()

SCOPES = frozenset(
    {
        "app_mentions:read",
        "chat:write",
        "commands",
        "im:history",
        "im:read",
        "im:write",
        "channels:history",
        "groups:history",
        "channels:read",
        "groups:read",
        "files:read",
        "users:read",
    }
)
"""Without one of these the bot cannot do its work."""
NICETIES = frozenset({"assistant:write", "files:write", "reactions:write", "mpim:history", "mpim:read"})


class SlackSetupError(Exception):
    """Slack does not let the bot start; the message names the setting and what to do."""


async def introduce(web: Web) -> Me:
    """Who we are at Slack. Raises SlackSetupError."""
    try:
        response = await answered(web.patient.auth_test())
    except SlackError as error:
        raise _bot_token_problem(error.code) from error
    _check_scopes(response.headers)
    bot = response.get("bot_id") or ""
    return Me(
        team=response["team_id"],
        user=response["user_id"],
        bot=bot,
        app=await _app_id(web, bot),
        url=response.get("url") or "",
    )


async def check_app_token(web: Web, app_token: str) -> None:
    """Socket Mode will open a connection with this token. Raises SlackSetupError."""
    try:
        await heard(web.patient.apps_connections_open(app_token=app_token))
    except SlackError as error:
        raise _app_token_problem(error.code) from error


async def _app_id(web: Web, bot: str) -> str:
    try:
        return str((await heard(web.patient.bots_info(bot=bot)))["bot"].get("app_id") or "")
    except SlackError as error:
        log.info("app_id_unknown", code=error.code)
        return ""


def _bot_token_problem(code: str) -> SlackSetupError:
    if code in {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}:
        return SlackSetupError(
            f"SLACK_BOT_TOKEN is not accepted by Slack ({code}). Copy the Bot User OAuth Token (xoxb-…) from "
            "“OAuth & Permissions” of the app; install the app first."
        )
    if code == "not_allowed_token_type":
        return SlackSetupError("SLACK_BOT_TOKEN is of another kind. It takes the Bot User OAuth Token, xoxb-….")
    return SlackSetupError(f"Slack cannot be reached ({code}). Check the network and CRAG_SLACK_API_URL.")


def _app_token_problem(code: str) -> SlackSetupError:
    if code in {"invalid_auth", "not_authed", "token_revoked", "not_allowed_token_type", "missing_scope"}:
        return SlackSetupError(
            f"SLACK_APP_TOKEN is not accepted by Slack ({code}). Make an app-level token (xapp-…) with the scope "
            "`connections:write` under “Basic Information”."
        )
    return SlackSetupError(
        f"Socket Mode cannot be opened ({code}). Turn it on in the app, or set CRAG_SLACK_MODE=http."
    )


def _check_scopes(headers: Mapping[str, str]) -> None:
    """Slack tells the granted scopes in a header."""
    told = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), None)
    if told is None:
        return
    granted = {scope.strip() for scope in told.split(",")}
    if missing := sorted(SCOPES - granted):
        raise SlackSetupError(
            f"The Slack app lacks the scope{'' if len(missing) == 1 else 's'} {', '.join(missing)}. "
            "Paste slack_manifest.yml into its App Manifest and install it again."
        )
    if missing := sorted(NICETIES - granted):
        log.warning("scopes_missing", scopes=missing, advice="Paste slack_manifest.yml and install the app again.")
