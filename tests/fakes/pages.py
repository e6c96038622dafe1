"""A local web server for pages, and for what goes wrong on the web."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass(frozen=True, kw_only=True)
class Page:
    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def redirect(to: str) -> Page:
    return Page(status=302, headers={"Location": to})


def zipped(body: bytes, content_type: str = "text/plain") -> Page:
    return Page(body=gzip.compress(body), content_type=content_type, headers={"Content-Encoding": "gzip"})


@dataclass(frozen=True)
class Endless:
    """A body that never ends; `pause` in seconds between its pieces."""

    pause: float = 0.0


@dataclass(frozen=True)
class Hang:
    """Takes the request and says nothing."""


@dataclass(frozen=True, kw_only=True)
class Request:
    path: str
    host: str
    """The Host header."""


@dataclass(kw_only=True)
class PageServer:
    """Serves `pages` by path; an unknown path gets a 404. `tls` makes it speak https."""

    pages: dict[str, Page | Endless | Hang] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    port: int = 0

    @property
    def base_url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def running(self) -> "AsyncIterator[PageServer]":
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        runner = web.AppRunner(
            app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None, auto_decompress=False
        )
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self.tls).start()
        self.port = runner.addresses[0][1]
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _answer(self, http: web.Request) -> web.StreamResponse:
        self.requests.append(Request(path=http.path, host=http.headers.get("Host", "")))
        match self.pages.get(http.path, Page(status=404)):
            case Hang():
                await asyncio.Event().wait()
                raise AssertionError
            case Endless(pause):
                return await _endless(http, pause)
            case Page() as page:
                headers = {"Content-Type": page.content_type, **page.headers}
                return web.Response(body=page.body, status=page.status, headers=headers)


async def _endless(http: web.Request, pause: float) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await response.prepare(http)
    while True:
        await response.write(b"more and more and more of it " * 1_000)
        await asyncio.sleep(pause)
