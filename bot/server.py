"""The one web application: is the process alive, can it work, and the doors that others add."""

import asyncio
from collections.abc import Sequence

import structlog
import uvicorn
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

READY_SECONDS = 2.0
"""Whoever asks whether we are ready does not wait for long."""

log = structlog.get_logger()


def build(engine: AsyncEngine, doors: Sequence[BaseRoute] = ()) -> Starlette:
    """`/health`: the process is alive. `/ready`: the database answers. `doors`: Slack's events, the review pages."""

    async def health(_request: Request) -> JSONResponse:
        return JSONResponse({"status": "alive"})

    async def ready(_request: Request) -> JSONResponse:
        problem = await _problem(engine)
        return JSONResponse({"status": problem or "ready"}, status_code=503 if problem else 200)

    return Starlette(routes=[Route("/health", health), Route("/ready", ready), *doors])


async def run(app: Starlette, *, host: str, port: int) -> None:
    """Serves until the process is asked to stop, or the task is cancelled."""
    config = uvicorn.Config(app, host=host, port=port, log_config=None, access_log=False, lifespan="off")
    log.info("listening", host=host, port=port)
    await uvicorn.Server(config).serve()


async def _problem(engine: AsyncEngine) -> str | None:
    try:
        async with asyncio.timeout(READY_SECONDS), engine.connect() as connection:
            await connection.execute(text("SELECT 1"))
    except (SQLAlchemyError, OSError, TimeoutError):
        return "the database does not answer"
    return None
