"""The project's own Python files, for tests that look at the code itself."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("bot", "crag_graph", "migrations")
EVERYTHING = (*PRODUCT, "tests")


def files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"), filename=str(file))


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()
