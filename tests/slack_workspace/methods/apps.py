"""The app itself: its connections, its token, its installation."""

import secrets

from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.grants import Grant
from tests.slack_workspace.installation import App, Installation
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Json

TOKEN_LIVES = 43_200
"""Seconds, where tokens are renewed."""


def api_test(slack: Platform, call: Call) -> Json:
    if error := call.text("error"):
        raise Refusal(error, args=call.args)
    return {"args": call.args}


def connections_open(slack: Platform, call: Call) -> Json:
    ticket = slack.sockets[call.app.id].ticket()
    host = slack.host.replace("http", "ws", 1)
    return {"url": f"{host}link/?ticket={ticket}&app_id={call.app.id}"}


def auth_test(slack: Platform, call: Call) -> Json:
    return {
        "url": slack.host,
        "team": call.by.team.name,
        "user": call.bot.handle,
        "team_id": call.by.team.id,
        "user_id": call.bot.id,
        "bot_id": call.bot.bot_id,
        "is_enterprise_install": False,
    }


def auth_revoke(slack: Platform, call: Call) -> Json:
    if not call.flag("test"):
        call.by.revoked = "token_revoked"
    return {"revoked": not call.flag("test")}


def team_info(slack: Platform, call: Call) -> Json:
    team = call.by.team
    return {"team": {"id": team.id, "name": team.name, "domain": team.domain}}


def oauth_access(slack: Platform, call: Call) -> Json:
    if call.text("grant_type") == "refresh_token":
        return _rotated(slack, call)
    grant = redeem(slack, call)
    if call.text("redirect_uri", grant.redirect_uri) != grant.redirect_uri:
        raise Refusal("bad_redirect_uri")
    installed = slack.install(grant.app, grant.team)
    organisation = {"id": "E0ACME", "name": "Acme Holding"} if slack.org_wide else None
    return {
        "app_id": grant.app.id,
        "authed_user": {"id": grant.person.id},
        "scope": ",".join(sorted(installed.scopes)),
        "token_type": "bot",
        "access_token": installed.token,
        "bot_user_id": installed.bot.id,
        "team": None if organisation else {"id": grant.team.id, "name": grant.team.name},
        "enterprise": organisation,
        "is_enterprise_install": bool(organisation),
        **_expiry(slack, installed),
    }


def _expiry(slack: Platform, installed: Installation) -> Json:
    return {"expires_in": TOKEN_LIVES, "refresh_token": installed.refresh_token} if slack.rotating else {}


def _rotated(slack: Platform, call: Call) -> Json:
    """A new token for the old one, by a refresh token that works once."""
    by = identified(slack, call)
    mine = (one for one in slack.installations if one.app is by and not one.revoked)
    installed = next((one for one in mine if one.refresh_token == call.text("refresh_token")), None)
    if installed is None:
        raise Refusal("invalid_refresh_token")
    installed.rotate()
    return {"token_type": "bot", "access_token": installed.token, **_expiry(slack, installed)}


def redeem(slack: Platform, call: Call) -> Grant:
    """What was allowed with this code, told once to the app that it was allowed to."""
    grant = slack.grants.redeem(call.text("code"), identified(slack, call))
    if grant is None:
        raise Refusal("invalid_code")
    return grant


def identified(slack: Platform, call: Call) -> App:
    """The app that says its secret."""
    app = next((a for a in slack.apps.values() if a.client_id == call.text("client_id")), None)
    if app is None:
        raise Refusal("invalid_client_id")
    if not secrets.compare_digest(app.client_secret, call.text("client_secret")):
        raise Refusal("bad_client_secret")
    return app
