"""One Postgres cluster on disk: made, started and stopped, whatever a crash left behind."""

import os
import shlex
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import psycopg

from bot.database import DatabaseError
from bot.database.owner import Outcome, Owner, choose_owner, is_root, reachable, reason_in, run_as
from bot.database.programs import Programs, copy_programs, find_programs

PORT = 5432  # only part of the socket's name: nothing listens on the network
SHARED_HOMES = Path("/var/lib/crag")
LONGEST_SOCKET_PATH = 100  # bytes; the kernel's limit is 107 on Linux and 103 on macOS
STARTING = 120.0  # seconds; recovery after a crash included
LOOK, PAUSE = 0.05, 0.5  # seconds between two looks at a starting server, and between two starts
MOST_STARTS = 40
STILL_IN_USE = "still in use"  # of the shared memory of a killed server: its processes linger for some seconds
JUST_MADE = 10.0  # seconds for which a lock file may be empty because its maker has not written it yet
LARGEST_LOG = 4_000_000  # bytes
FIRST_WITH_BUILTIN_LOCALE = 17
NO_PROCESS = 2**31 - 2  # above every system's highest process id

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "512MB",  # taken when used; 100,000 passages and their indexes fit
    "maintenance_work_mem": "256MB",
    "jit": "off",
    "log_min_messages": "warning",
    "log_error_verbosity": "terse",  # details quote rows, and rows are private
}


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """`home` holds `data`, `log` and, where its path is short enough, the socket. `owner`: None for this user."""

    home: Path
    sockets: Path
    programs: Programs
    owner: Owner | None
    settings: Mapping[str, str]

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={quote(str(self.sockets), safe='')}&port={PORT}"

    def connect_or_start(self) -> psycopg.Connection:
        """A connection to the server; the caller sees to it that nobody else starts or stops it meanwhile."""
        deadline = time.monotonic() + STARTING
        starts = 0
        while time.monotonic() < deadline:
            with suppress(psycopg.OperationalError):
                return psycopg.connect(self.url("postgres"), autocommit=True, connect_timeout=5)
            if self._running():  # starting, or recovering from a crash
                time.sleep(LOOK)
            else:
                starts += 1
                self._start(starts)
        raise DatabaseError(f"Postgres is still not ready after {STARTING:.0f} s; its log is {self._log}.")

    def stop(self) -> None:
        """Ends the server in good order; open transactions are rolled back."""
        self._run("pg_ctl", "stop", "-D", str(self._data), "-m", "fast", "-s")

    def make_data(self) -> None:
        """Makes an empty cluster, where there is none. It gets its name only when it is whole."""
        if self._data.exists():
            return
        for left_over in self.home.glob("data-*.part"):
            shutil.rmtree(left_over, ignore_errors=True)
        part = Path(tempfile.mkdtemp(prefix="data-", suffix=".part", dir=self.home))
        give(part, self.owner)
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"]
        if self.programs.major >= FIRST_WITH_BUILTIN_LOCALE:
            options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        if self.settings.get("fsync") == "off":
            options.append("--no-sync")
        made = self._run("initdb", "-D", str(part), *options)
        if not made.succeeded:
            raise DatabaseError(f"Postgres could not make its data in {self.home}: {made.complaint}.")
        part.rename(self._data)

    def shorten_log(self) -> None:
        if self._log.exists() and self._log.stat().st_size > LARGEST_LOG:
            self._log.replace(self.home / "log.old")

    @property
    def _data(self) -> Path:
        return self.home / "data"

    @property
    def _log(self) -> Path:
        return self.home / "log"

    def _start(self, number: int) -> None:
        """Starts the server and waits for it. `number`: how many starts this makes, since nothing ran."""
        self._disown_process_ids()
        heard = self._log.stat().st_size if self._log.exists() else 0
        options = [f"-c{name}={value}" for name, value in {**SETTINGS, **self.settings}.items()]
        quoted = '"' + str(self.sockets).replace('"', '""') + '"'
        words = [*options, f"-cunix_socket_directories={quoted}", f"-cport={PORT}"]
        line = subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
        wait = ["-w", "-t", f"{STARTING:.0f}"]
        started = self._run("pg_ctl", "start", "-D", str(self._data), "-l", str(self._log), "-o", line, *wait, "-s")
        if not started.succeeded and not self._running():
            complaint = self._complaint(heard)
            if number >= (MOST_STARTS if STILL_IN_USE in complaint else 2):
                raise DatabaseError(f"Postgres does not start: {complaint} (its log is {self._log}).")
            time.sleep(PAUSE)

    def _running(self) -> bool:
        """Is there a server of ours, if only a starting one? The pid file may name a zombie, or a reused id."""
        lock = self._read(self._data / "postmaster.pid")
        if lock == "":  # just made, or left by a full disk
            return time.time() - (self._data / "postmaster.pid").stat().st_mtime < JUST_MADE
        pid, _, _ = (lock or f"{NO_PROCESS}").partition("\n")
        return ("postgres" if os.name == "nt" else str(self._data)) in _command_line(pid)

    def _disown_process_ids(self) -> None:
        """Makes the id in a dead server's lock files one that no process has.

        Postgres refuses to start while any process of this user has that id, and after a restart of a container some
        process often has. The files themselves stay: one of them names the shared memory by which Postgres sees
        whether a backend of the dead server still writes. Only an empty one, at which Postgres stops, goes.
        """
        for path in (self._data / "postmaster.pid", self.sockets / f".s.PGSQL.{PORT}.lock"):
            pid, _, rest = (self._read(path) or "").partition("\n")
            if not rest:
                path.unlink(missing_ok=True)
            elif pid != str(NO_PROCESS):
                descriptor, corrected = tempfile.mkstemp(dir=path.parent)
                with os.fdopen(descriptor, "w") as file:
                    file.write(f"{NO_PROCESS}\n{rest}")
                give(Path(corrected), self.owner)
                Path(corrected).replace(path)

    @staticmethod
    def _read(lock: Path) -> str | None:
        try:
            return lock.read_text()
        except FileNotFoundError:
            return None

    def _complaint(self, heard: int) -> str:
        """Why the last start failed. `heard`: bytes of the log from before it."""
        if not self._log.exists():
            return "it gives no reason"
        with self._log.open(errors="replace") as log:
            log.seek(heard)
            return reason_in(log.read())

    def _run(self, program: str, *words: str) -> Outcome:
        return run_as(self.owner, [self.programs.path(program), *words], folder=self.home)


def open_cluster(data_dir: Path, settings: Mapping[str, str], shared_homes: Path = SHARED_HOMES) -> Cluster:
    """The cluster of this data directory, made where there is none; nobody else may do the same meanwhile.

    `shared_homes`: where it lies if the user that Postgres runs as cannot reach the data directory.
    """
    home = _find_home(data_dir, shared_homes)
    owner = choose_owner(home, data_dir)
    give(home, owner)
    version = home / "data" / "PG_VERSION"
    programs = find_programs(int(version.read_text()) if version.exists() else None)
    if not _can_run(programs, owner):
        programs = copy_programs(programs, home)
    cluster = Cluster(
        home=home, sockets=_socket_folder(home, owner), programs=programs, owner=owner, settings=dict(settings)
    )
    cluster.make_data()
    cluster.shorten_log()
    return cluster


def give(path: Path, owner: Owner | None) -> None:
    """Root works in folders of other users here: it must not follow a link that one of them has put in the way."""
    if owner is not None and path.lstat().st_uid != owner.uid:
        os.chown(path, owner.uid, owner.gid, follow_symlinks=False)


def _find_home(data_dir: Path, shared_homes: Path) -> Path:
    """`postgres` in the data directory: a folder, or a link to one where Postgres's user cannot reach that folder."""
    home = data_dir / "postgres"
    if home.is_symlink() and not home.exists():
        raise DatabaseError(
            f"{home} points at {home.readlink()}, which is missing. Bring it back, or remove the link to begin with "
            "an empty database."
        )
    if not home.exists():
        owner = choose_owner(data_dir) if is_root() else None
        if owner is None or reachable(data_dir, owner):
            home.mkdir(mode=0o700)
        else:
            shared_homes.mkdir(mode=0o711, parents=True, exist_ok=True)
            home.symlink_to(tempfile.mkdtemp(prefix="postgres-", dir=shared_homes))
    return home.resolve()


def _socket_folder(home: Path, owner: Owner | None) -> Path:
    """Home itself, or a short private folder that home's `socket` link remembers."""
    if len(os.fsencode(home / f".s.PGSQL.{PORT}")) <= LONGEST_SOCKET_PATH:
        return home
    link = home / "socket"
    if not link.is_symlink():
        name = "crag-" + sha256(os.fsencode(home)).hexdigest()[:16]
        link.symlink_to(Path(tempfile.gettempdir()).resolve() / name)
    folder = link.readlink()
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()  # in a folder that everybody may write to, somebody may have been quicker
    if not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o077 or status.st_uid not in {0, home.stat().st_uid}:
        raise DatabaseError(f"{folder}, meant for the database's socket, is not private: remove it.")
    give(folder, owner)
    return folder


def _can_run(programs: Programs, owner: Owner | None) -> bool:
    """By trying it: permissions of every folder above, libraries and mount options all have their say."""
    if owner is None:
        return True
    try:
        return run_as(owner, [programs.path("initdb"), "--version"]).succeeded
    except PermissionError:
        return False


def _command_line(pid: str) -> str:
    """Empty where there is no such process, or only its zombie."""
    proc = Path("/proc")
    if (proc / "self").exists():
        try:
            return (proc / pid / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return ""
    listing = ["tasklist", "/fi", f"PID eq {pid}"] if os.name == "nt" else ["ps", "-ww", "-o", "command=", "-p", pid]
    return run_as(None, listing).printed
