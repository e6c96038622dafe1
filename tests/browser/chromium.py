"""Starts the Chromium of this machine, and serves an application to it."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from playwright.async_api import Browser, async_playwright
from starlette.applications import Starlette

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ON_MACOS = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
MISSING = (
    "There is no Chromium on this machine. Install it (Debian, Ubuntu: apt-get install chromium), "
    "or leave the tests in a browser out: make test BROWSER=none"
)
FLAGS = (
    "--no-sandbox",  # root has none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class NoBrowserError(Exception):
    """There is no browser here."""


def find_chromium() -> str:
    """Raises NoBrowserError."""
    found = next(filter(None, map(shutil.which, NAMES)), None) or (str(ON_MACOS) if ON_MACOS.exists() else None)
    if found is None:
        raise NoBrowserError(MISSING)
    return found


@asynccontextmanager
async def open_chromium() -> AsyncIterator[Browser]:
    """With a profile of its own, which is empty. Raises NoBrowserError."""
    executable = find_chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield browser
        await browser.close()


@asynccontextmanager
async def serving(app: Starlette, port: int) -> AsyncIterator[None]:
    """The application on a port of the loopback."""
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=port, log_config=None, access_log=False, lifespan="off", ws="none")
    )
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        await task
