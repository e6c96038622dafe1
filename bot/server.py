"""The one web application: is the process alive, can it work, and the doors that others add."""

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import structlog
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bot.jobs import Queue, QueueError
from bot.telemetry.metrics import exposition

Check = Callable[[], str | None]
"""What is wrong, if something is."""

READY_SECONDS = 2.0
"""Whoever asks whether we are ready does not wait for long."""

log = structlog.get_logger()


def build(engine: AsyncEngine, doors: Sequence[BaseRoute] = (), checks: Sequence[Check] = ()) -> Starlette:
    """`/health`: the process is alive. `/ready`: the database answers, and no check has a complaint.

    `doors`: Slack's events, the review pages.
    """

    async def health(_request: Request) -> JSONResponse:
        return JSONResponse({"status": "alive"})

    async def ready(_request: Request) -> JSONResponse:
        problem = await _problem(engine) or next(filter(None, (check() for check in checks)), None)
        return JSONResponse({"status": problem or "ready"}, status_code=503 if problem else 200)

    return Starlette(routes=[Route("/health", health), Route("/ready", ready), *doors])


def build_metrics(queue: Queue) -> Starlette:
    """`/metrics`: the numbers of this process and of the queue, for Prometheus. It has a port of its own, so that
    whoever is let in to the review pages or brings Slack's events does not see it.
    """

    async def metrics(_request: Request) -> Response:
        try:
            standing = await queue.standing()
        except QueueError:
            standing = None
        return Response(exposition(standing), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/metrics", metrics)])


async def run(app: Starlette, *, host: str, port: int) -> None:
    """Serves until the task is cancelled; requests that are being answered are then ended in good order.

    Raises OSError where the port is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        server = _Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off"))
        log.info("listening", host=host, port=listening.getsockname()[1])
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = True
            await serving
            raise


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are for the whole process to deal with."""
        yield


async def _problem(engine: AsyncEngine) -> str | None:
    try:
        async with asyncio.timeout(READY_SECONDS), engine.connect() as connection:
            await connection.execute(text("SELECT 1"))
    except (SQLAlchemyError, OSError, TimeoutError):
        return "the database does not answer"
    return None
