"""One Chromium for the run, and one installation that the tests of a process share."""

import socket
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import Browser, Page
from psycopg import AsyncConnection

from bot import logs
from bot.database.embedded import EmbeddedServer
from tests.browser.chromium import NoBrowserError, open_chromium
from tests.browser.installation import DIALOGUE, ROOT, Running, fill, running

ASKED = (DIALOGUE[0], DIALOGUE[7], DIALOGUE[8])


@pytest.fixture(scope="session", autouse=True)
def _plain_logs() -> None:
    logs.configure("error")


@pytest.fixture(scope="session")
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    try:
        async with open_chromium() as browser:
            yield browser
    except NoBrowserError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
async def installation(
    server: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory, free_port: int
) -> AsyncIterator[Running]:
    """With the handbook in its library and three answered questions."""
    name = f"test_{uuid4().hex}"
    async with await AsyncConnection.connect(server.url("postgres"), autocommit=True) as postgres:
        await postgres.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        data: Path = tmp_path_factory.mktemp("data")
        async with running(data, server.url(name), port=free_port) as opened:
            await fill(opened, library=ROOT / "examples" / "handbook", asked=ASKED)
            yield opened
        await postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def page(chromium: Browser) -> AsyncIterator[Page]:
    """A window of its own, with no cookies yet."""
    context = await chromium.new_context()
    context.set_default_timeout(15_000)
    yield await context.new_page()
    await context.close()


@pytest.fixture
async def signed_in(page: Page, installation: Running) -> Page:
    await page.goto(await installation.link())
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/admin/traces")
    await page.bring_to_front()
    return page
