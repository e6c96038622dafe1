"""The way to Slack's Web API: two clients on one session, and Slack's refusals as our errors."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.telemetry.metrics import SLACK_ERRORS

SECONDS = 15
"""For one call."""
HTTP_OK = 200
TOO_MANY = 429
SERVER_ERROR = 500
FOR_NOW = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout"}
    | {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}
)
"""Refusals that end by themselves, or when somebody has seen to the token: nothing is given up for them."""


class SlackError(Exception):
    """Slack did not do what it was asked for."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class SlackRefusedError(SlackError):
    """Slack says no, and why: `code` is its own word. Nothing has happened."""


class SlackBusyError(SlackError):
    """Slack wants us to wait, so many seconds. Nothing has happened."""

    def __init__(self, wait: float) -> None:
        super().__init__("ratelimited")
        self.wait = wait


class SlackAwayError(SlackError):
    """No answer, or none of Slack's own: whether anything has happened is not known."""


@dataclass(frozen=True, kw_only=True)
class Web:
    """Slack's Web API with our token."""

    patient: AsyncWebClient
    """Waits as Slack tells it and tries again: for calls that may be made twice."""
    hasty: AsyncWebClient
    """Says at once that it did not work."""
    session: aiohttp.ClientSession
    token: str


@asynccontextmanager
async def open_session() -> AsyncIterator[aiohttp.ClientSession]:
    """The connections to Slack, for every team."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS)) as session:
        yield session


@asynccontextmanager
async def open_web(api_url: str, token: str) -> AsyncIterator[Web]:
    async with open_session() as session:
        yield make_web(session, api_url, token)


def make_web(session: aiohttp.ClientSession, api_url: str, token: str) -> Web:
    logger = logging.getLogger("slack.web")
    logger.setLevel(logging.INFO)  # at DEBUG the client logs what people wrote
    retries = [
        AsyncConnectionErrorRetryHandler(max_retry_count=2),
        AsyncRateLimitErrorRetryHandler(max_retry_count=10),
        AsyncServerErrorRetryHandler(max_retry_count=2),
    ]
    patient = AsyncWebClient(token, base_url=api_url, session=session, logger=logger, retry_handlers=retries)
    hasty = AsyncWebClient(token, base_url=api_url, session=session, logger=logger, retry_handlers=[])
    return Web(patient=patient, hasty=hasty, session=session, token=token)


async def heard(call: Awaitable[AsyncSlackResponse]) -> Mapping[str, Any]:
    """What Slack answered. Raises SlackRefusedError, SlackBusyError or SlackAwayError."""
    response = await answered(call)
    return response.data if isinstance(response.data, dict) else {}


async def answered(call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
    """The same with what the headers say."""
    try:
        return await call
    except SlackApiError as error:
        raise _counted(_translated(error)) from error
    except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError) as error:
        raise _counted(SlackAwayError(type(error).__name__)) from error


def _counted(error: SlackError) -> SlackError:
    SLACK_ERRORS.labels(error.code).inc()
    return error


def _translated(error: SlackApiError) -> SlackError:
    response = error.response
    status = getattr(response, "status_code", getattr(response, "status", 0))
    data = getattr(response, "data", None)
    code = data.get("error") if isinstance(data, dict) else None
    if status == TOO_MANY or code in {"ratelimited", "rate_limited"}:
        return SlackBusyError(_seconds(getattr(response, "headers", {})))
    if status >= SERVER_ERROR or (status == HTTP_OK and not code) or code in FOR_NOW:
        return SlackAwayError(code or f"http_{status}")
    return SlackRefusedError(code or f"http_{status}")


def _seconds(headers: Mapping[str, str]) -> float:
    told = {name.lower(): value for name, value in headers.items()}.get("retry-after", "")
    return float(told) if told.isdigit() else 1.0
