"""One embedded Postgres for the whole test run, and a fresh, migrated database for each test that asks for one."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from filelock import FileLock
from psycopg import AsyncConnection, sql
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database.embedded import EmbeddedServer
from bot.database.engine import open_engine
from bot.database.migrate import migrate

TEMPLATE = "migrated"
# A test's data may be lost in a power cut; they may not make us wait for the disk.
CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "64MB"}


def run_folder(testrun_uid: str) -> Path:
    """Short, because a socket's path is, and open to the user that Postgres runs as when the tests run as root."""
    return Path(tempfile.gettempdir()) / f"crag-tests-{testrun_uid}"


@pytest.fixture(scope="session")
def server(testrun_uid: str) -> Iterator[EmbeddedServer]:
    """The run's Postgres: all workers of pytest-xdist share it, and the last one stops it and clears up."""
    folder = run_folder(testrun_uid)
    with FileLock(f"{folder}.lock"):
        running = EmbeddedServer(folder, CARELESS)
    yield running
    with FileLock(f"{folder}.lock") as lock:
        home = running.home
        if running.leave():
            shutil.rmtree(home)
            shutil.rmtree(folder, ignore_errors=True)  # home may have been all of it
            Path(lock.lock_file).unlink()


@pytest.fixture(scope="session")
async def template(server: EmbeddedServer, testrun_uid: str) -> str:
    """Name of a database that is migrated once a run and cloned for each test."""
    with FileLock(f"{run_folder(testrun_uid)}.lock"):
        async with await AsyncConnection.connect(server.url("postgres"), autocommit=True) as postgres:
            found = await postgres.execute("SELECT 1 FROM pg_database WHERE datname = %s", [TEMPLATE])
            if await found.fetchone() is None:
                await postgres.execute("CREATE DATABASE unfinished")
                await migrate(server.url("unfinished"))
                await postgres.execute(
                    sql.SQL("ALTER DATABASE unfinished RENAME TO {}").format(sql.Identifier(TEMPLATE))
                )
    return TEMPLATE


@pytest.fixture
async def database_url(server: EmbeddedServer, template: str) -> AsyncIterator[str]:
    """A database of this test's own, migrated and empty, dropped afterwards."""
    name = f"test_{uuid4().hex}"
    async with await AsyncConnection.connect(server.url("postgres"), autocommit=True) as postgres:
        await postgres.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield server.url(name)
        await postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def empty_database_url(server: EmbeddedServer) -> AsyncIterator[str]:
    """A database of this test's own in which nothing was ever set up."""
    name = f"test_{uuid4().hex}"
    async with await AsyncConnection.connect(server.url("postgres"), autocommit=True) as postgres:
        await postgres.execute(f"CREATE DATABASE {name}")
        yield server.url(name)
        await postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    opened = open_engine(database_url, pool_size=5)
    yield opened
    await opened.dispose()
