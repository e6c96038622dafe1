"""Web search by Tavily, through its official client."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
from tavily import AsyncTavilyClient, BadRequestError, InvalidAPIKeyError, UsageLimitExceededError
from tavily.errors import ForbiddenError
from tavily.errors import TimeoutError as TavilyTimeoutError

from crag_graph.domain import Passage
from crag_graph.services import WebBusyError, WebRejectedError
from crag_graph.websearch.pages import Result, objects, pages

_SERVER_ERROR = 500


class TavilySearch:
    """Needs a key: without one, the client would quietly ask as an unknown guest."""

    available = True

    def __init__(self, key: str, *, base_url: str | None = None, seconds: float = 12.0) -> None:
        if not key.strip():
            raise ValueError("Tavily needs a key.")
        self._client = AsyncTavilyClient(api_key=key.strip(), api_base_url=base_url)
        self._seconds = seconds

    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:
        return pages(_results(await self._ask(query, limit)), query, limit=limit)

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, query: str, limit: int) -> Any:
        try:
            # The client's own timeout is one for each read: a reply that drips would take for ever.
            async with asyncio.timeout(self._seconds):
                return await self._client.search(
                    query, max_results=limit, include_raw_content="text", timeout=self._seconds
                )
        except (InvalidAPIKeyError, ForbiddenError, BadRequestError) as error:
            raise WebRejectedError(str(error)) from error
        except UsageLimitExceededError as error:
            raise WebBusyError(f"(too many requests) {error}") from error
        except (TavilyTimeoutError, TimeoutError) as error:
            raise WebBusyError(f"(no answer within {self._seconds:g} s)") from error
        except httpx.HTTPStatusError as error:
            kind = WebBusyError if error.response.status_code >= _SERVER_ERROR else WebRejectedError
            raise kind(f"(status {error.response.status_code})") from error
        except httpx.InvalidURL as error:
            raise WebRejectedError(f"(its address is wrong: {error})") from error
        except httpx.HTTPError as error:
            raise WebBusyError(f"({type(error).__name__})") from error
        except (ValueError, TypeError, AttributeError) as error:
            # A reply that is no JSON object, or (the client raises the response itself) has an odd status.
            raise WebBusyError("(its reply is not readable)") from error


def _results(reply: Any) -> Iterator[Result]:
    for result in objects(reply):
        yield Result(
            url=str(result.get("url") or ""),
            title=str(result.get("title") or ""),
            text=str(result.get("raw_content") or result.get("content") or ""),
        )
