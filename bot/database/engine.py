"""The way to Postgres: one pool for our own tables, and addresses for the memory's and the queue's."""

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy import URL, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

MEMORY_SCHEMA = "memory"
JOBS_SCHEMA = "jobs"


def open_engine(url: str, *, pool_size: int = 10) -> AsyncEngine:
    """The engine for our tables in `public`; whoever opens it disposes of it.

    A connection is looked at before it is lent: after a restart of Postgres nobody gets a dead one. Errors show no
    parameters, because these are people's texts.
    """
    return create_async_engine(
        for_sqlalchemy(url),
        pool_size=pool_size,
        max_overflow=0,
        pool_pre_ping=True,
        pool_timeout=10,
        hide_parameters=True,
    )


def with_schema(url: str, schema: str) -> str:
    """The same database with `schema` in place of `public`, for libraries that bring their own tables."""
    options = conninfo_to_dict(url).get("options")
    return make_conninfo(url, options=" ".join(filter(None, [str(options or ""), f"-csearch_path={schema}"])))


def for_sqlalchemy(url: str) -> URL:
    return make_url(url).set(drivername="postgresql+psycopg")
