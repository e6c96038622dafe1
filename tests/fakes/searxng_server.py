"""A local server that speaks SearXNG's search API."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.fakes.tavily_server import Hang, Raw, Status, Trouble, WebPage


@dataclass(kw_only=True)
class SearxngServer:
    """Serves `/search`; formats that the settings do not list get a 403, as SearXNG does."""

    pages: Sequence[WebPage] = ()
    formats: Sequence[str] = ("html", "json")
    trouble: list[Trouble] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    base_url: str = ""

    @asynccontextmanager
    async def running(self) -> "AsyncIterator[SearxngServer]":
        app = web.Application()
        app.router.add_get("/search", self._search)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _search(self, http: web.Request) -> web.StreamResponse:
        query = http.query.get("q", "")
        self.queries.append(query)
        trouble = self.trouble.pop(0) if self.trouble else None
        match trouble:
            case Status():
                return web.Response(text=trouble.error, status=trouble.code)
            case Raw():
                return web.Response(text=trouble.body, status=trouble.code, content_type="application/json")
            case Hang():
                await asyncio.Event().wait()
        if http.query.get("format", "html") not in self.formats:
            return web.Response(text="Forbidden", status=403)
        return web.json_response(self._found(query))

    def _found(self, query: str) -> dict[str, Any]:
        results = [
            {
                "url": page.url,
                "title": page.title,
                "content": page.content,
                "engine": "local",
                "engines": ["local"],
                "template": "default.html",
                "positions": [rank],
                "score": 1.0 / rank,
                "category": "general",
            }
            for rank, page in enumerate(self.pages, start=1)
        ]
        return {
            "query": query,
            "number_of_results": len(results),
            "results": results,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": [],
        }
