"""A Postgres of our own in the data directory: started by whoever comes first, stopped by whoever leaves last.

Every process that uses the server holds one connection with a shared advisory lock, its lease. The operating system
ends a lease with its process, however that dies, so there is no count that could be wrong. Who leaves asks for the lock
alone: whoever gets it is the last, and stops the server. A file lock keeps starts and stops of all processes apart.
When the last user is killed, the server runs on until the next user leaves; the data are safe either way.
"""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import structlog
from filelock import FileLock, Timeout

from bot.database import DatabaseError
from bot.database.cluster import SHARED_HOMES, STARTING, Cluster, give, open_cluster
from bot.database.owner import is_root

DATABASE = "crag"
LOCK = "postgres.lock"
LEASE = 0x63726167  # key of the advisory lock that all users share
TRAVERSABLE, PRIVATE = 0o711, 0o700

log = structlog.get_logger()


class EmbeddedServer:
    """The running server and this process's lease on it."""

    def __init__(
        self, data_dir: Path, settings: Mapping[str, str] | None = None, *, shared_homes: Path = SHARED_HOMES
    ) -> None:
        """Joins the server of this data directory, and starts it first where it does not run.

        Blocks: a second or so on the very first start, milliseconds where it runs already. `settings` are further
        settings of Postgres, used by whoever starts it; `shared_homes` is where root puts its files if the user that
        Postgres runs as cannot reach the data directory. Raises DatabaseError.
        """
        self._data_dir = data_dir
        self._settings = settings or {}
        self._shared_homes = shared_homes
        self._join()

    @property
    def home(self) -> Path:
        """Where its data and its log lie."""
        return self._cluster.home

    def url(self, database: str = DATABASE) -> str:
        """As libpq takes it; the same as long as the data directory stays where it is."""
        return self._cluster.url(database)

    async def keep_running(self, interval: float = 1.0) -> None:
        """Starts the server again when it has died under us. Runs until cancelled; `interval` in seconds."""
        while True:
            await asyncio.sleep(interval)
            try:
                await asyncio.to_thread(self._rejoin_if_gone)
            except DatabaseError as error:
                log.warning("database.gone", problem=str(error))

    def leave(self) -> bool:
        """Ends the lease; True where it was the last one, and the server was stopped."""
        with self._locked():
            last = _is_last(self._lease)
            self._lease.close()
            if last:
                self._cluster.stop()
        return last

    def _join(self) -> None:
        try:
            self._data_dir.mkdir(mode=TRAVERSABLE if is_root() else PRIVATE, parents=True, exist_ok=True)
            with self._locked():
                self._cluster = open_cluster(self._data_dir, self._settings, self._shared_homes)
                give(self._data_dir / LOCK, self._cluster.owner)
                self._lease = _take_lease(self._cluster)
        except Timeout as error:
            raise DatabaseError(f"Another process has held {error.lock_file} for {STARTING:.0f} s.") from error
        except (OSError, psycopg.Error) as error:
            raise DatabaseError(f"The database in {self._data_dir} cannot be started: {error}.") from error

    def _rejoin_if_gone(self) -> None:
        try:
            self._lease.execute("SELECT 1")
        except psycopg.OperationalError:
            self._lease.close()
            self._join()
            log.warning("database.restarted")

    def _locked(self) -> FileLock:
        return FileLock(self._data_dir / LOCK, timeout=STARTING)


def _take_lease(cluster: Cluster) -> psycopg.Connection:
    with ExitStack() as undo:
        lease = undo.enter_context(closing(cluster.connect_or_start()))
        lease.execute("SELECT pg_advisory_lock_shared(%s)", [LEASE])
        if not lease.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            lease.execute(f"CREATE DATABASE {DATABASE}")
        undo.pop_all()
        return lease


def _is_last(lease: psycopg.Connection) -> bool:
    """Gives up our share of the lock, and tells whether nobody else has one."""
    try:
        lease.execute("SELECT pg_advisory_unlock_shared(%s)", [LEASE])
        row = lease.execute("SELECT pg_try_advisory_lock(%s)", [LEASE]).fetchone()
    except psycopg.OperationalError:
        return False  # the server is gone already
    return row == (True,)
