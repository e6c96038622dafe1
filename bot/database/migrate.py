"""Brings a database up to date: our tables, then those of the memory and of the queue."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from procrastinate.schema import SchemaManager
from psycopg import AsyncConnection, sql
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from bot.database import DatabaseError
from bot.database.engine import JOBS_SCHEMA, MEMORY_SCHEMA, for_sqlalchemy, with_schema
from bot.database.programs import OLDEST_SERVER

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"
GUARD = 0x6D696772  # key of the advisory lock of whoever migrates
OLDEST_PGVECTOR = "0.8"


async def migrate(url: str) -> None:
    """Up to date when it returns; processes that start together do it one after another. Raises DatabaseError."""
    try:
        async with _alone(url) as guard:
            await _ensure_usable(guard)
            await _upgrade_ours(url)
            await _set_up_memory(guard, url)
            await _set_up_jobs(guard, url)
    except CommandError as error:
        raise DatabaseError(
            f"The database was brought up to date by a newer version of crag ({error}): update this one."
        ) from error
    except psycopg.OperationalError as error:
        raise DatabaseError(f"The database cannot be reached: {_first_line(error)}. Is DATABASE_URL right?") from error
    except (psycopg.Error, SQLAlchemyError) as error:
        raise DatabaseError(f"The database cannot be brought up to date: {_first_line(error)}.") from error


def alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


@asynccontextmanager
async def _alone(url: str) -> AsyncIterator[AsyncConnection]:
    """A connection that holds the migration lock.

    It asks again and again instead of waiting inside Postgres: a waiting statement keeps a snapshot open, and
    CREATE INDEX CONCURRENTLY, which the memory's set-up uses, would wait for that for ever.
    """
    async with await AsyncConnection.connect(url, autocommit=True) as guard:
        while await _value(guard, "SELECT pg_try_advisory_lock(%s)", GUARD) is not True:  # noqa: ASYNC110  see above
            await asyncio.sleep(0.05)
        yield guard


async def _ensure_usable(guard: AsyncConnection) -> None:
    version = guard.info.server_version
    if version < OLDEST_SERVER * 10_000:
        raise DatabaseError(f"This Postgres is version {version // 10_000}; {OLDEST_SERVER} or newer is needed.")
    found = await _value(guard, "SELECT default_version FROM pg_available_extensions WHERE name = %s", "vector")
    if found is None or _numbers(str(found)) < _numbers(OLDEST_PGVECTOR):
        raise DatabaseError(
            f"This Postgres has pgvector {found or 'not installed'}; {OLDEST_PGVECTOR} or newer is needed: install it there."
        )
    await guard.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")


async def _upgrade_ours(url: str) -> None:
    engine = create_async_engine(for_sqlalchemy(url), poolclass=NullPool)
    try:
        async with engine.connect() as connection:
            await connection.run_sync(_upgrade)
            await connection.commit()
    finally:
        await engine.dispose()


def _upgrade(connection: Connection) -> None:
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


async def _set_up_memory(guard: AsyncConnection, url: str) -> None:
    await _create_schema(guard, MEMORY_SCHEMA)
    async with AsyncPostgresSaver.from_conn_string(with_schema(url, MEMORY_SCHEMA)) as saver:
        await saver.setup()


async def _set_up_jobs(guard: AsyncConnection, url: str) -> None:
    """The queue's schema in one transaction: it has no `IF NOT EXISTS`, and half of it would never be mended."""
    await _create_schema(guard, JOBS_SCHEMA)
    if await _value(guard, "SELECT to_regclass(%s)::text", f"{JOBS_SCHEMA}.procrastinate_jobs") is None:
        async with await AsyncConnection.connect(with_schema(url, JOBS_SCHEMA)) as connection:
            await connection.execute(SchemaManager.get_schema())


async def _create_schema(guard: AsyncConnection, schema: str) -> None:
    await guard.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))


async def _value(connection: AsyncConnection, query: str, parameter: object) -> object:
    row = await (await connection.execute(query, [parameter])).fetchone()
    return row[0] if row else None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].removesuffix(".")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))
