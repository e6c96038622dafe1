"""Writes the page of every surface: `python -m tests.surfaces docs/surfaces.md [--language de]`."""

import argparse
import asyncio
import tempfile
from pathlib import Path

from bot import logs
from bot.database.embedded import EmbeddedServer
from bot.database.migrate import migrate
from tests.surfaces.asked import ASKED
from tests.surfaces.making import walked
from tests.surfaces.page import page_of


async def make(page: Path, language: str) -> None:
    """In an embedded database that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        server = await asyncio.to_thread(EmbeddedServer, Path(folder))
        try:
            await migrate(server.url())
            gallery = await walked(server.url(), Path(folder), language=language)
        finally:
            await asyncio.to_thread(server.leave)
    await asyncio.to_thread(page.write_text, page_of(gallery), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--language", choices=sorted(ASKED), default="en")
    chosen = parser.parse_args()
    logs.configure("error")
    asyncio.run(make(chosen.page, chosen.language))


if __name__ == "__main__":
    main()
