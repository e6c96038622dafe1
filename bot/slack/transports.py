"""How Slack's payloads reach the app: by Socket Mode, watched, or by signed HTTP."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import structlog
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.slack.web import Web

log = structlog.get_logger()

PATH = "/slack/events"
LARGEST_BODY = 1_000_000
PING_EVERY = 5.0
"""Seconds; a connection on which four pings are missed is renewed."""
SILENT = 30.0
"""Seconds without a connection that said hello after which it is reported, and tried again."""


class Sockets:
    """Socket Mode: one connection, renewed when Slack asks for it, when it dies, and when it says nothing."""

    def __init__(self, app: AsyncApp, web: Web, app_token: str, *, silent: float = SILENT) -> None:
        self._app = app
        self._web = web
        self._app_token = app_token
        self._silent = silent
        self._waiting_since: float | None = time.monotonic()

    @property
    def silence(self) -> float:
        """Seconds for which there has been no connection that said hello; 0 while there is one."""
        return 0.0 if self._waiting_since is None else time.monotonic() - self._waiting_since

    async def listen(self) -> None:
        """Until it is cancelled."""
        logger = logging.getLogger("slack.socket")
        logger.setLevel(logging.INFO)  # at DEBUG the client logs what people wrote
        handler = AsyncSocketModeHandler(
            self._app, self._app_token, logger=logger, web_client=self._web.hasty, ping_interval=PING_EVERY
        )
        handler.client.message_listeners.append(self._hear)
        handler.client.on_close_listeners.append(self._hear_close)
        connecting = asyncio.create_task(handler.connect_async())  # type: ignore[no-untyped-call] # Bolt's has no annotations
        try:
            await self._watch(handler)
        finally:
            connecting.cancel()
            with suppress(asyncio.CancelledError):
                await connecting
            await handler.close_async()  # type: ignore[no-untyped-call] # the same

    async def _watch(self, handler: AsyncSocketModeHandler) -> None:
        """Reports a silence, and asks for a new connection each time that it has lasted so long again."""
        reported = 0.0
        while True:
            await asyncio.sleep(min(1.0, self._silent / 4))
            if not await handler.client.is_connected() and self._waiting_since is None:
                self._waiting_since = time.monotonic()
            if self.silence - reported < self._silent:
                reported = min(reported, self.silence)
                continue
            reported = self.silence
            log.warning("socket_silent", seconds=round(self.silence), advice="Is Slack reachable from here?")
            await self._reconnect(handler)

    async def _reconnect(self, handler: AsyncSocketModeHandler) -> None:
        try:
            async with asyncio.timeout(self._silent):
                await handler.client.connect_to_new_endpoint(force=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next round tries again
            log.info("socket_not_renewed", reason=str(error))

    async def _hear(
        self, _client: AsyncBaseSocketModeClient, message: Mapping[str, Any], _raw: str | None = None
    ) -> None:
        if message.get("type") == "hello":
            self._waiting_since = None
            log.info("socket_connected", connections=message.get("num_connections"))

    async def _hear_close(self, _message: Any) -> None:
        self._waiting_since = self._waiting_since or time.monotonic()


def http_routes(app: AsyncApp, signing_secret: str, *, now: Callable[[], float] = time.time) -> list[Route]:
    """The request URL of the app, for events, commands and interactions alike."""
    verifier = SignatureVerifier(signing_secret)

    async def receive(request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return JSONResponse({"error": "too large"}, status_code=413)
        if not is_signed(verifier, body, request.headers, now()):
            return JSONResponse({"error": "invalid signature"}, status_code=401)
        try:
            read = to_async_bolt_request(request, body)
        except (ValueError, TypeError, AttributeError):
            return JSONResponse({"error": "invalid payload"}, status_code=400)
        return to_starlette_response(await app.async_dispatch(read))

    return [Route(PATH, receive, methods=["POST"])]


def is_signed(verifier: SignatureVerifier, body: bytes, headers: Mapping[str, str], now: float) -> bool:
    """Slack has signed these very bytes within the last five minutes."""
    timestamp, signature = headers.get("x-slack-request-timestamp", ""), headers.get("x-slack-signature", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 and signature.isascii()):  # noqa: PLR2004
        return False
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return False
    return abs(now - int(timestamp)) <= 300 and verifier.is_valid(text, timestamp, signature)  # noqa: PLR2004 - seconds


async def _body(request: Request) -> bytes | None:
    """The raw body; None where it is larger than anything that Slack sends."""
    if int(request.headers.get("content-length") or 0) > LARGEST_BODY:
        return None
    return await request.body()
