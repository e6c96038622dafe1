"""A local server that speaks Tavily's protocol, and refuses what Tavily refuses."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

KEY = "tvly-local"
LONGEST_QUERY = 400
MOST_RESULTS = 20


@dataclass(frozen=True, kw_only=True)
class WebPage:
    """A page as the search finds it; `raw` is its whole text, None where the page could not be read."""

    url: str
    title: str
    content: str
    raw: str | None = None


@dataclass(frozen=True, kw_only=True)
class Status:
    """An HTTP error with the body that Tavily sends."""

    code: int
    error: str = "Something went wrong."


@dataclass(frozen=True, kw_only=True)
class Hang:
    """No reply, ever."""


@dataclass(frozen=True, kw_only=True)
class Raw:
    """A body that is not what the protocol says."""

    body: str
    code: int = 200


Trouble = Status | Hang | Raw
Find = Callable[[str], Sequence[WebPage]]


@dataclass(kw_only=True)
class TavilyServer:
    """Serves `/search`; `queries` and `requests` record what came. `trouble` is met first, one a request."""

    find: Find
    key: str = KEY
    latency: float = 0.0
    trouble: list[Trouble] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    base_url: str = ""

    @property
    def queries(self) -> list[str]:
        return [str(request.get("query")) for request in self.requests]

    @asynccontextmanager
    async def running(self, *, port: int = 0) -> "AsyncIterator[TavilyServer]":
        app = web.Application()
        app.router.add_post("/search", self._search)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        host, port = runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _search(self, http: web.Request) -> web.StreamResponse:
        if "X-Tavily-Access-Mode" in http.headers or http.headers.get("Authorization") != f"Bearer {self.key}":
            return _error(Status(code=401, error="Unauthorized: missing or invalid API key."))
        body = await http.json()
        self.requests.append(body)
        await asyncio.sleep(self.latency)
        trouble = self.trouble.pop(0) if self.trouble else _refusal(body)
        match trouble:
            case Status():
                return _error(trouble)
            case Raw():
                return web.Response(text=trouble.body, status=trouble.code, content_type="application/json")
            case Hang():
                await asyncio.Event().wait()
        return web.json_response(self._found(body))

    def _found(self, body: dict[str, Any]) -> dict[str, Any]:
        found = list(self.find(body["query"]))[: int(body.get("max_results", 5))]
        raw = bool(body.get("include_raw_content"))
        return {
            "query": body["query"],
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "results": [
                {
                    "url": page.url,
                    "title": page.title,
                    "content": page.content,
                    "score": round(0.99 - rank / 100, 2),
                    "raw_content": page.raw if raw else None,
                }
                for rank, page in enumerate(found)
            ],
            "response_time": 0.01,
            "request_id": "local",
        }


@asynccontextmanager
async def tavily_server(pages: Sequence[WebPage] | Find = (), **options: Any) -> AsyncIterator[TavilyServer]:
    """A running server that finds these pages; `options` are the fields of TavilyServer."""
    find = pages if callable(pages) else lambda _: pages
    async with TavilyServer(find=find, **options).running() as server:
        yield server


def _refusal(body: dict[str, Any]) -> Status | None:
    query = body.get("query")
    if not isinstance(query, str) or not query.strip():
        return Status(code=400, error="Query is missing.")
    if len(query) > LONGEST_QUERY:
        return Status(code=400, error="Query is too long. Max query length is 400 characters.")
    if not 0 <= int(body.get("max_results", 5)) <= MOST_RESULTS:
        return Status(code=400, error="max_results must be between 0 and 20.")
    return None


def _error(status: Status) -> web.Response:
    return web.json_response({"detail": {"error": status.error}}, status=status.code)
