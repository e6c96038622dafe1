"""Who somebody is, as Slack says by OpenID Connect; asked and told in one browser."""

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from sqlalchemy import delete, func, insert
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.admins import Person
from bot.admin.tables import sign_ins

LIFETIME = timedelta(minutes=10)
PATIENCE = 15
"""Seconds for one call of Slack."""
Vouches = Callable[[str, str], Awaitable[bool]]
"""Slack says that in the team this person is an admin."""
Knows = Callable[[str], Awaitable[bool]]
"""The app is installed in the team."""


class SignInError(Exception):
    """Slack did not say who somebody is; the message is for the audit log."""


@dataclass(frozen=True, kw_only=True)
class OpenId:
    """Our app at Slack, as Slack's OpenID Connect knows it. Nobody comes in but people of teams that it `knows`.

    `team`: in whose audit log stands who was refused before we knew of which team they are.
    """

    client_id: str
    client_secret: str
    api_url: str
    team: str
    knows: Knows
    vouches: Vouches

    def page(self, secret: str, *, callback: str) -> str:
        """Where Slack asks the person; from there it goes back to `callback`."""
        query = {
            "response_type": "code",
            "scope": "openid profile",
            "client_id": self.client_id,
            "redirect_uri": callback,
            "state": _derived(secret, "state"),
            "nonce": _derived(secret, "nonce"),
        }
        return f"{urljoin(self._api, '../openid/connect/authorize')}?{urlencode(query)}"

    async def whose(self, code: str, secret: str, *, callback: str) -> Person:
        """Who came back with this code, from the sign-in with this secret. Raises SignInError."""
        if not code:
            raise SignInError("Slack sent no code")
        # As form fields: slack_sdk's own method sends them by aiohttp's BasicAuth, which is deprecated.
        client = {"client_id": self.client_id, "client_secret": self.client_secret}
        fields = client | {"code": code, "redirect_uri": callback, "grant_type": "authorization_code"}
        granted = await _heard(self._web().api_call("openid.connect.token", data=fields))
        claims = read_claims(str(granted.get("id_token")))
        check_claims(claims, issuer=self._issuer, client=self.client_id, nonce=_derived(secret, "nonce"))
        told = await _heard(self._web(str(granted.get("access_token"))).openid_connect_userInfo())
        team, person = told.get("https://slack.com/team_id"), told.get("https://slack.com/user_id")
        if not (isinstance(team, str) and isinstance(person, str)) or told.get("sub") != claims.get("sub"):
            raise SignInError("Slack tells of somebody else")
        return Person(team=team, id=person)

    @property
    def _api(self) -> str:
        return f"{self.api_url.rstrip('/')}/"

    @property
    def _issuer(self) -> str:
        parts = urlsplit(self.api_url)
        return f"{parts.scheme}://{parts.netloc}"

    def _web(self, token: str | None = None) -> AsyncWebClient:
        logger = logging.getLogger("slack.openid")
        logger.setLevel(logging.INFO)  # at DEBUG the client logs codes and tokens
        return AsyncWebClient(token, base_url=self._api, timeout=PATIENCE, logger=logger, retry_handlers=[])


def read_claims(token: str) -> Mapping[str, Any]:
    """What an ID token says. Raises SignInError.

    Its signature is not checked: the token came straight from Slack's token endpoint, by TLS and for our client
    secret, and OpenID Connect Core 1.0, 3.1.3.7, point 6, lets that stand for the signature.
    """
    try:
        _, payload, _ = token.split(".")
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise SignInError("Slack's ID token cannot be read") from error
    if not isinstance(claims, dict):
        raise SignInError("Slack's ID token cannot be read")
    return claims


def check_claims(claims: Mapping[str, Any], *, issuer: str, client: str, nonce: str) -> None:
    """The token is of this Slack, for us, for this very sign-in, and still good. Raises SignInError."""
    audience, expires = claims.get("aud"), claims.get("exp")
    if claims.get("iss") != issuer:
        raise SignInError("the ID token is of another issuer")
    if audience not in (client, [client]):
        raise SignInError("the ID token is for another app")
    if not hmac.compare_digest(str(claims.get("nonce")).encode(errors="replace"), nonce.encode()):
        raise SignInError("the ID token is of another sign-in")
    if not isinstance(expires, int | float) or expires <= time.time():
        raise SignInError("the ID token is too old")


async def _heard(call: Awaitable[AsyncSlackResponse]) -> Mapping[str, Any]:
    try:
        data = (await call).data
    except SlackClientError as error:
        told = getattr(getattr(error, "response", None), "data", None)
        code = told.get("error") if isinstance(told, dict) else None
        raise SignInError(f"Slack refused: {code or 'no reason'}") from error
    except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError) as error:
        raise SignInError("Slack does not answer") from error
    return data if isinstance(data, dict) else {}


async def begin(engine: AsyncEngine) -> str:
    """The secret of a new sign-in, which the browser alone keeps."""
    secret = secrets.token_urlsafe(32)
    async with engine.begin() as connection:
        await connection.execute(delete(sign_ins).where(sign_ins.c.expires_at < func.now()))
        await connection.execute(insert(sign_ins).values(id=_derived(secret, "id"), expires_at=func.now() + LIFETIME))
    return secret


async def is_ours(engine: AsyncEngine, secret: str, state: str) -> bool:
    """It was begun in the browser that has this secret, not long ago; true once."""
    if not hmac.compare_digest(state.encode(errors="replace"), _derived(secret, "state").encode()):
        return False
    spend = delete(sign_ins).where(sign_ins.c.id == _derived(secret, "id"), sign_ins.c.expires_at > func.now())
    async with engine.begin() as connection:
        return (await connection.execute(spend)).rowcount == 1


def _derived(secret: str, purpose: str) -> str:
    """The browser keeps the secret; Slack and the database see only what is made of it."""
    return hashlib.sha256(f"{purpose}:{secret}".encode(errors="replace")).hexdigest()
