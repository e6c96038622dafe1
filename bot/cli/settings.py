"""`crag settings`: every setting, its meaning and what it is now."""

from pydantic import SecretStr
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.settings import example_file, names, read, table


def show(*, markdown: bool, env: bool) -> None:
    if markdown or env:
        print(table() if markdown else example_file(), end="\n" if markdown else "")
        return
    settings = read()
    shown = Table(box=None, pad_edge=False)
    for column in ("setting", "now", "meaning"):
        shown.add_column(column, overflow="fold")
    for name, (field, value) in zip(names(), settings, strict=True):
        meaning = type(settings).model_fields[field].description or ""
        shown.add_row(Text(name), Text(_told(value)), Text(meaning, style="dim"))
    Console(highlight=False).print(shown)


def _told(value: object) -> str:
    if isinstance(value, SecretStr):
        return "set"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
