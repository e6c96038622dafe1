"""Runs `crag` as a process of its own, with the settings that a test gives and no others."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

from bot.settings import bare_environment

MAIN = "from bot.cli import main; main()"


@dataclass(frozen=True, kw_only=True)
class Ended:
    status: int
    out: str
    error: str


async def start(*arguments: str, cwd: Path, environment: dict[str, str]) -> asyncio.subprocess.Process:
    """`cwd` is a folder without a `.env` file."""
    return await start_python(MAIN, *arguments, cwd=cwd, environment=environment)


async def start_python(
    program: str, *arguments: str, cwd: Path, environment: dict[str, str]
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        program,
        *arguments,
        cwd=cwd,
        env=bare_environment() | environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def end(process: asyncio.subprocess.Process, stdin: str = "") -> Ended:
    out, error = await process.communicate(stdin.encode())
    assert process.returncode is not None
    return Ended(status=process.returncode, out=out.decode(), error=error.decode())


async def crag(*arguments: str, cwd: Path, stdin: str = "", **environment: str) -> Ended:
    return await end(await start(*arguments, cwd=cwd, environment=environment), stdin)
