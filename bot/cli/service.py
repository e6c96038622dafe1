"""`crag serve`, `crag work` and `crag migrate`: the bot as a service."""

from bot import service
from bot.settings import Settings
from bot.wiring import open_database


async def serve(settings: Settings, *, worker: bool) -> int:
    await service.serve(settings, worker=worker)
    return 0


async def work(settings: Settings) -> int:
    await service.work(settings)
    return 0


async def migrate(settings: Settings) -> int:
    """Opening the database brings it up to date."""
    async with open_database(settings):
        print("The database is up to date.")
    return 0
