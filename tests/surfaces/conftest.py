"""The walk is made once; tests look at what it has seen."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from psycopg import AsyncConnection

from bot import logs
from bot.database.embedded import EmbeddedServer
from tests.surfaces.gallery import Gallery
from tests.surfaces.making import walked


@pytest.fixture(scope="session")
async def gallery(
    server: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Gallery]:
    logs.configure("critical")  # it goes where things fail
    folder: Path = tmp_path_factory.mktemp("surfaces")
    name = f"surfaces_{uuid4().hex}"
    async with await AsyncConnection.connect(server.url("postgres"), autocommit=True) as postgres:
        await postgres.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield await walked(server.url(name), folder)
        await postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")
