"""A wrong or missing token or scope is named before the bot starts, with what to do."""

import pytest

from bot.slack.incoming import Me
from bot.slack.start import SlackSetupError, check_app_token, introduce
from bot.slack.web import Web, open_web
from tests.slack_workspace import SlackWorkspace


async def test_we_know_who_we_are(slack: SlackWorkspace, web: Web, me: Me) -> None:
    found = await introduce(web)
    assert (found.team, found.user, found.bot, found.app) == (me.team, me.user, me.bot, me.app)
    assert found.url == slack.platform.host
    await check_app_token(web, slack.app_token)


@pytest.mark.parametrize("token", ["xoxb-wrong", "nonsense"])
async def test_a_wrong_bot_token_is_named(slack: SlackWorkspace, token: str) -> None:
    async with open_web(slack.api_url, token) as web:
        with pytest.raises(SlackSetupError, match=r"SLACK_BOT_TOKEN is not accepted by Slack \(invalid_auth\)"):
            await introduce(web)


async def test_tokens_that_were_mixed_up_are_named(slack: SlackWorkspace) -> None:
    async with open_web(slack.api_url, slack.app_token) as web:
        with pytest.raises(SlackSetupError, match="SLACK_BOT_TOKEN is of another kind"):
            await introduce(web)
        with pytest.raises(SlackSetupError, match="SLACK_APP_TOKEN is not accepted"):
            await check_app_token(web, slack.bot_token)


async def test_a_revoked_token_is_named(slack: SlackWorkspace, web: Web) -> None:
    slack.admin.revokes_token()
    with pytest.raises(SlackSetupError, match="token_revoked"):
        await introduce(web)


async def test_missing_scopes_are_named(slack: SlackWorkspace, web: Web) -> None:
    slack.admin.takes_scope("users:read")
    slack.admin.takes_scope("files:read")
    with pytest.raises(SlackSetupError, match=r"lacks the scopes files:read, users:read\. Paste slack_manifest"):
        await introduce(web)


async def test_a_missing_nicety_is_no_reason_not_to_start(slack: SlackWorkspace, web: Web) -> None:
    slack.admin.takes_scope("assistant:write")
    assert (await introduce(web)).user == slack.bot.id


async def test_slack_that_cannot_be_reached_is_named() -> None:
    async with open_web("http://127.0.0.1:1/api/", "xoxb-any") as web:
        with pytest.raises(SlackSetupError, match="cannot be reached"):
            await introduce(web)


async def test_socket_mode_that_is_off_is_named(slack: SlackWorkspace, web: Web) -> None:
    slack.faults.next("apps.connections.open", error="socket_mode_not_enabled")
    with pytest.raises(SlackSetupError, match="Turn it on in the app, or set CRAG_SLACK_MODE=http"):
        await check_app_token(web, slack.app_token)
