import asyncio

import pytest
from alembic import command
from alembic.config import Config
from psycopg import AsyncConnection
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database import DatabaseError
from bot.database.engine import open_engine
from bot.database.migrate import alembic_config, migrate


async def test_migrations_from_empty_make_the_tables_that_the_code_declares(engine: AsyncEngine) -> None:
    def check(connection: Connection) -> None:
        command.check(config_on(connection))

    async with engine.connect() as connection:
        await connection.run_sync(check)


async def test_processes_that_migrate_at_once_do_it_once(empty_database_url: str) -> None:
    await asyncio.gather(*(migrate(empty_database_url) for _ in range(3)))
    async with await AsyncConnection.connect(empty_database_url) as connection:
        schemas = await connection.execute(
            "SELECT to_regclass('public.passages'), to_regclass('memory.checkpoints'), to_regclass('jobs.procrastinate_jobs')"
        )
        assert None not in (await schemas.fetchone() or [None])


async def test_a_half_made_migration_is_taken_up_again(empty_database_url: str) -> None:
    """As after a crash between our tables and the queue's."""
    await migrate(empty_database_url)
    async with await AsyncConnection.connect(empty_database_url) as connection:
        await connection.execute("DROP SCHEMA jobs CASCADE")
    await migrate(empty_database_url)
    async with await AsyncConnection.connect(empty_database_url) as connection:
        assert await (await connection.execute("SELECT count(*) FROM jobs.procrastinate_jobs")).fetchone() == (0,)


async def test_a_database_of_a_newer_version_is_refused_with_advice(database_url: str) -> None:
    async with await AsyncConnection.connect(database_url) as connection:
        await connection.execute("UPDATE alembic_version SET version_num = '9999_future'")
    with pytest.raises(DatabaseError, match="newer version of crag"):
        await migrate(database_url)


async def test_a_database_that_is_away_is_one_line_without_the_password() -> None:
    with pytest.raises(DatabaseError, match=r"cannot be reached: .*Is DATABASE_URL right") as caught:
        await migrate("postgresql://crag:hunter2@127.0.0.1:1/crag")
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_user_who_may_not_create_what_is_needed_is_told(empty_database_url: str) -> None:
    async with await AsyncConnection.connect(empty_database_url, autocommit=True) as connection:
        await connection.execute("DO $$ BEGIN CREATE ROLE guest LOGIN; EXCEPTION WHEN duplicate_object THEN END $$")
    with pytest.raises(DatabaseError, match="permission denied"):
        await migrate(empty_database_url.replace("postgres@", "guest@"))


async def test_there_is_no_way_down_that_would_lose_documents(engine: AsyncEngine) -> None:
    def downgrade(connection: Connection) -> None:
        command.downgrade(config_on(connection), "base")

    async with engine.connect() as connection:
        with pytest.raises(NotImplementedError, match="restore a backup"):
            await connection.run_sync(downgrade)


def config_on(connection: Connection) -> Config:
    config = alembic_config()
    config.attributes["connection"] = connection
    return config


async def test_documents_that_were_there_before_editions_are_told_theirs(empty_database_url: str) -> None:
    await migrate(empty_database_url)
    engine = open_engine(empty_database_url)

    def back_and_forth(connection: Connection) -> None:
        command.downgrade(config_on(connection), "0014_attached")
        connection.execute(
            text(
                "INSERT INTO documents (space, source, title, loader, digest, size, added_by, state)"
                " VALUES ('s', 'a', 'Prices 2024', '', '', 0, '', 'ready'), ('s', 'b', 'Leave', '', '', 0, '', 'ready')"
            )
        )
        command.upgrade(config_on(connection), "head")

    async with engine.begin() as connection:
        await connection.run_sync(back_and_forth)
        rows = await connection.execute(text("SELECT family, edition FROM documents ORDER BY source"))
    assert [tuple(row) for row in rows] == [("date: prices", "2024-12-31"), ("", "")]
    await engine.dispose()
