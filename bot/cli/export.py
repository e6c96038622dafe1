"""`crag export`: what is stored of one person, as JSON that the person can read."""

import json
from pathlib import Path

from bot.erasing.eraser import WhoError
from bot.erasing.export import export as read
from bot.settings import Settings
from bot.wiring import open_database


async def export(settings: Settings, user: str, *, team: str | None = None, output: Path | None = None) -> int:
    """To `output`, which then nobody but its owner may read, or to standard output."""
    if not user.strip():
        raise WhoError
    async with open_database(settings) as database:
        exported = json.dumps(await read(database.engine, user, team=team), ensure_ascii=False, indent=2, default=str)
    if output is None:
        print(exported)
        return 0
    _write(output, exported)
    return 0


def _write(file: Path, content: str) -> None:
    file.touch(mode=0o600)
    file.write_text(f"{content}\n", encoding="utf-8")
