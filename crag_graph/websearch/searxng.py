"""Web search by a SearXNG server, whose snippets stand for the pages."""

import asyncio
from collections.abc import Iterator
from html import unescape
from typing import Any

import httpx

from crag_graph.domain import Passage
from crag_graph.services import WebBusyError, WebRejectedError
from crag_graph.websearch.pages import Result, objects, pages

_FORBIDDEN, _TOO_MANY, _SERVER_ERROR = 403, 429, 500


class SearxngSearch:
    """`base_url` is the address of the server; its settings must allow the format `json`."""

    available = True

    def __init__(self, base_url: str, *, seconds: float = 10.0) -> None:
        self._client = httpx.AsyncClient(timeout=seconds, headers={"Accept": "application/json"})
        self._address = f"{base_url.rstrip('/')}/search"
        self._seconds = seconds

    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:
        return pages(_results(await self._ask(query)), query, limit=limit)

    async def close(self) -> None:
        await self._client.aclose()

    async def _ask(self, query: str) -> Any:
        try:
            async with asyncio.timeout(self._seconds):
                response = await self._client.get(self._address, params={"q": query, "format": "json"})
        except (TimeoutError, httpx.TimeoutException) as error:
            raise WebBusyError(f"(no answer within {self._seconds:g} s)") from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise WebRejectedError(f"(its address is wrong: {error})") from error
        except httpx.HTTPError as error:
            raise WebBusyError(f"({type(error).__name__})") from error
        _check(response.status_code)
        try:
            return response.json()
        except ValueError as error:
            raise WebBusyError("(its reply is not readable)") from error


def _check(status: int) -> None:
    if status == _FORBIDDEN:
        raise WebRejectedError("(SearXNG must list json among the formats in its settings)")
    if status == _TOO_MANY or status >= _SERVER_ERROR:
        raise WebBusyError(f"(status {status})")
    if status != httpx.codes.OK:
        raise WebRejectedError(f"(status {status})")


def _results(reply: Any) -> Iterator[Result]:
    for result in objects(reply):
        yield Result(
            url=str(result.get("url") or ""),
            title=unescape(str(result.get("title") or "")),
            text=unescape(str(result.get("content") or "")),
        )
