import pytest
from psycopg import AsyncConnection
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database.engine import open_engine, with_schema


async def test_a_connection_that_broke_is_not_lent_again(engine: AsyncEngine, database_url: str) -> None:
    async with engine.connect() as connection:
        await connection.execute(text("SELECT 1"))
    async with await AsyncConnection.connect(database_url, autocommit=True) as other:
        await other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    async with engine.connect() as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1


async def test_an_error_does_not_quote_what_people_wrote(engine: AsyncEngine) -> None:
    with pytest.raises(DBAPIError) as caught:
        async with engine.connect() as connection:
            await connection.execute(text("SELECT CAST(:words AS text) FROM nowhere"), {"words": "my salary"})
    assert "salary" not in str(caught.value)


async def test_libraries_with_tables_of_their_own_see_only_their_schema(database_url: str) -> None:
    with_options = with_schema(f"{database_url}&options=-cstatement_timeout%3D5s", "jobs")
    async with await AsyncConnection.connect(with_options) as connection:
        assert await (await connection.execute("SHOW search_path")).fetchone() == ("jobs",)
        assert await (await connection.execute("SHOW statement_timeout")).fetchone() == ("5s",)
        assert await (await connection.execute("SELECT count(*) FROM procrastinate_jobs")).fetchone() == (0,)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
async def test_both_ways_to_write_an_address_are_understood(database_url: str, scheme: str) -> None:
    engine = open_engine(database_url.replace("postgresql", scheme, 1))
    async with engine.connect() as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    await engine.dispose()
