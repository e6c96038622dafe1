"""Runs a command: settings first, then logging, then its work on an event loop of its own."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import typer
from pydantic import SecretStr

from bot import logs
from bot.settings import Settings, read

Work = Callable[[Settings], Coroutine[Any, Any, int | None]]
"""What a command does; its exit status, where that is not 0."""


def run(work: Work, *, service: bool = False) -> None:
    """Runs the work and exits with its status. `service`: log as set; a command for people logs warnings only."""
    settings = read()
    secrets = [value.get_secret_value() for _, value in settings if isinstance(value, SecretStr)]
    logs.configure(settings.log_level if service else "error", texts=settings.log_text, secrets=secrets)
    raise typer.Exit(asyncio.run(work(settings)) or 0)
