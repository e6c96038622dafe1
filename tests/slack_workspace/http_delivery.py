"""Signed HTTP delivery to an app's request URL, as Slack's Events API and interactivity send it."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from urllib.parse import urlencode

import aiohttp

from tests.slack_workspace.delivery import Ack, Kind, NotAcknowledged, Retry
from tests.slack_workspace.world import Json


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Slack's v0 signature: HMAC-SHA256 over version, timestamp and raw body."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


def encode(kind: Kind, payload: Json) -> tuple[bytes, str]:
    """The raw body and its content type."""
    if kind is Kind.EVENT:
        return json.dumps(payload).encode(), "application/json"
    form = payload if kind is Kind.COMMAND else {"payload": json.dumps(payload)}
    return urlencode(form, errors="replace").encode(), "application/x-www-form-urlencoded"


class HttpDelivery:
    def __init__(self, *, session: aiohttp.ClientSession, urls: Mapping[Kind, str], secret: str) -> None:
        self._session = session
        self._urls = urls
        self._secret = secret

    async def send(self, kind: Kind, payload: Json, *, retry: Retry, within: float) -> Ack:
        body, content_type = encode(kind, payload)
        headers = self.headers(body) | {"Content-Type": content_type}
        if retry.number:
            headers |= {"X-Slack-Retry-Num": str(retry.number), "X-Slack-Retry-Reason": retry.reason}
        try:
            async with (
                asyncio.timeout(within),
                self._session.post(self._urls[kind], data=body, headers=headers, allow_redirects=False) as response,
            ):
                answer = await response.text()
        except TimeoutError:
            raise NotAcknowledged("http_timeout") from None
        except aiohttp.ClientError:
            raise NotAcknowledged("connection_failed") from None
        if not response.ok or response.status >= 300:
            raise NotAcknowledged("http_error", final=response.headers.get("X-Slack-No-Retry") == "1")
        return Ack(body=self._read(answer, response.content_type), by=self._urls[kind])

    def headers(self, body: bytes, *, timestamp: str | None = None) -> dict[str, str]:
        """Timestamp and signature of a body; real time, because the receiver compares it with its own clock."""
        timestamp = timestamp or str(int(time.time()))
        return {
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": sign(self._secret, timestamp, body),
        }

    @staticmethod
    def _read(answer: str, content_type: str) -> Json | None:
        if not answer:
            return None
        if content_type == "application/json":
            read: Json = json.loads(answer)
            return read
        return {"text": answer}
