"""As whom Postgres runs: it refuses to be root, so root lends it another user and opens no folder for that."""

import os
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bot.database import DatabaseError

SERVICE_USERS = ("postgres", "nobody")

MARKS = ("FATAL:", "PANIC:", "error:")


@dataclass(frozen=True, kw_only=True)
class Owner:
    uid: int
    gid: int


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a program ended, what it printed, and the line of its complaints that gives the reason."""

    succeeded: bool
    printed: str
    complaint: str


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def choose_owner(*paths: Path) -> Owner | None:
    """Whose processes and files a cluster has; None: this user's own.

    For root: the owner of the first of `paths` that belongs to a user of this machine (so that `sudo` leaves nothing
    behind that its user cannot use), else a service user.
    """
    if not is_root():
        return None
    import pwd  # noqa: PLC0415  Unix only

    for path in paths:
        owner = Owner(uid=path.stat().st_uid, gid=path.stat().st_gid)
        if owner.uid != 0 and any(user.pw_uid == owner.uid for user in pwd.getpwall()):
            return owner
    users = {user.pw_name: Owner(uid=user.pw_uid, gid=user.pw_gid) for user in pwd.getpwall()}
    for name in SERVICE_USERS:
        if name in users:
            return users[name]
    raise DatabaseError(
        f"Postgres does not run as root, and there is no user {' or '.join(SERVICE_USERS)} here to run it as: "
        "start as another user, or set DATABASE_URL."
    )


def run_as(owner: Owner | None, command: Sequence[str | Path], *, folder: Path = Path("/")) -> Outcome:
    """Runs a program in `folder` to its end; None is this user.

    Its words go to files and not to pipes: a server that it leaves behind would hold a pipe open for ever.
    """
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complaints:
        done = subprocess.run(  # noqa: S603  the programs of Postgres, with words of our own
            command,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=complaints,
            cwd=folder,
            user=owner.uid if owner else None,
            group=owner.gid if owner else None,
            extra_groups=[] if owner else None,
            check=False,
        )
        return Outcome(
            succeeded=done.returncode == 0, printed=_text_of(printed), complaint=reason_in(_text_of(complaints))
        )


def reason_in(complaints: str) -> str:
    """The first line that Postgres marks as an error; what follows is only what it does about it."""
    lines = complaints.strip().splitlines()
    for line in lines:
        for mark in MARKS:
            if mark in line:
                return line.partition(mark)[2].strip()
    return lines[-1] if lines else "it gives no reason"


def reachable(folder: Path, owner: Owner) -> bool:
    """May this user pass through the folder and all its parents? (Access lists beyond the mode are not seen.)"""
    return all(_may_pass(path.stat(), owner) for path in (folder, *folder.parents))


def _may_pass(status: os.stat_result, owner: Owner) -> bool:
    if status.st_uid == owner.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == owner.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()
