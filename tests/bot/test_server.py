import httpx
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bot.database.engine import open_engine
from bot.server import build


async def get(engine: AsyncEngine, path: str) -> httpx.Response:
    async def door(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("open")

    transport = httpx.ASGITransport(app=build(engine, [Route("/door", door)]))
    async with httpx.AsyncClient(transport=transport, base_url="http://bot") as client:
        return await client.get(path)


async def test_a_process_with_its_database_is_alive_and_ready(engine: AsyncEngine) -> None:
    assert (await get(engine, "/health")).status_code == 200
    assert (await get(engine, "/ready")).json() == {"status": "ready"}


async def test_without_its_database_a_process_is_alive_but_not_ready() -> None:
    away = open_engine("postgresql://nobody:hunter2@127.0.0.1:1/nothing")
    assert (await get(away, "/health")).status_code == 200
    answer = await get(away, "/ready")
    assert (answer.status_code, "hunter2" in answer.text) == (503, False)
    await away.dispose()


async def test_others_add_their_doors(engine: AsyncEngine) -> None:
    assert (await get(engine, "/door")).text == "open"
    assert (await get(engine, "/nowhere")).status_code == 404
