import asyncio
import os
import signal
import socket
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from bot import server
from bot.service import serve, until_stopped, work
from bot.settings import SettingsError, read


async def test_the_works_end_when_the_process_is_asked_to_stop() -> None:
    ended: list[str] = []

    async def forever(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    running = asyncio.create_task(until_stopped(forever("a"), forever("b")))
    await asyncio.sleep(0.05)
    os.kill(os.getpid(), signal.SIGTERM)
    await running
    assert sorted(ended) == ["a", "b"]


async def test_when_one_work_fails_the_others_are_stopped_too() -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as caught:
        await until_stopped(fail(), asyncio.Event().wait())  # type: ignore[arg-type]  # its result is of no use
    assert caught.group_contains(ZeroDivisionError)


async def test_the_web_server_ends_in_good_order_and_its_port_is_free_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serving = asyncio.create_task(server.run(Starlette(), host="127.0.0.1", port=port))
    async with httpx.AsyncClient() as client:
        for _ in range(100):
            try:
                assert (await client.get(f"http://127.0.0.1:{port}/")).status_code == 404
                break
            except httpx.ConnectError:
                await asyncio.sleep(0.02)
    with pytest.raises(OSError, match="in use"):
        await server.run(Starlette(), host="127.0.0.1", port=port)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    again = asyncio.create_task(server.run(Starlette(), host="127.0.0.1", port=port))
    await asyncio.sleep(0.1)
    assert not again.done()
    again.cancel()


async def test_a_service_without_slack_or_workers_on_sqlite_are_refused(tmp_path: Path) -> None:
    slack = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "CRAG_DATA_DIR": str(tmp_path / "data")}
    with pytest.raises(SettingsError, match="SLACK_BOT_TOKEN"):
        await serve(read({}, None), worker=True)
    with pytest.raises(SettingsError, match="CRAG_MEMORY=postgres"):
        await work(read(slack, None))
    with pytest.raises(SettingsError, match="CRAG_MEMORY=postgres"):
        await serve(read(slack, None), worker=False)
    with pytest.raises(SettingsError, match="CRAG_METRICS_PORT"):
        await serve(read(slack | {"CRAG_METRICS_PORT": "8080"}, None), worker=True)
    assert not (tmp_path / "data").exists()
