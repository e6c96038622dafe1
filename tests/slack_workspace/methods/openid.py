"""Signing in with Slack: a code becomes tokens, a token tells who the person is."""

import base64
import json
import time

from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.grants import Grant
from tests.slack_workspace.methods.apps import redeem
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Json

ID_TOKEN_LIVES = 300
"""Seconds."""


def token(slack: Platform, call: Call) -> Json:
    grant = redeem(slack, call)
    if call.text("redirect_uri") != grant.redirect_uri:
        raise Refusal("bad_redirect_uri")
    return {"access_token": slack.grants.token(grant), "token_type": "Bearer", "id_token": _id_token(slack, grant)}


def user_info(_slack: Platform, call: Call) -> Json:
    person = call.person
    if person is None:
        raise Refusal("not_allowed_token_type")
    return {
        "sub": person.id,
        "https://slack.com/user_id": person.id,
        "https://slack.com/team_id": person.team.id,
        "name": person.name,
        "locale": person.locale,
        "https://slack.com/team_name": person.team.name,
        "https://slack.com/team_domain": person.team.domain,
    }


def _id_token(slack: Platform, grant: Grant) -> str:
    now = int(time.time())
    claims = {
        "iss": slack.host.rstrip("/"),
        "sub": grant.person.id,
        "aud": grant.app.client_id,
        "exp": now + ID_TOKEN_LIVES,
        "iat": now,
        "nonce": grant.nonce,
        "https://slack.com/user_id": grant.person.id,
        "https://slack.com/team_id": grant.team.id,
    }
    parts = ({"alg": "RS256", "typ": "JWT"}, claims, {"not": "a signature"})
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
