"""What a conversation remembers between two questions, and how it forgets.

Only the latest checkpoint of a conversation is of use: every turn replaces the one before.
"""

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

import aiosqlite
from filelock import AsyncFileLock
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from psycopg import AsyncConnection, errors
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

BUSY_SECONDS = 30
"""How long one process waits for another that writes to the same file."""

PATIENCE = 10.0
"""Seconds to wait for Postgres."""

WAL_PAGES = 16
"""Pages after which SQLite folds its log into the file: the log stays small, a sync every few turns."""


class MemoryAwayError(Exception):
    """The memory of the conversations cannot be opened; the message says why."""


class Memory(Protocol):
    """The conversations' memory."""

    @property
    def saver(self) -> BaseCheckpointSaver[Any]:
        """For the graph."""

    def hold(self, conversation: str) -> AbstractAsyncContextManager[None]:
        """One question of a conversation at a time, among all processes of this machine: two at once lose a turn."""

    async def prune(self, conversation: str) -> None:
        """Deletes all but the latest checkpoint."""

    async def forget(self, conversation: str) -> bool:
        """Erases the conversation; False where nothing was remembered."""

    async def forget_unused(self, since: datetime) -> int:
        """Erases the conversations that had no turn since then, and says how many."""

    async def conversations(self) -> tuple[str, ...]:
        """The names of all that are remembered."""


class Holds:
    """Locks of conversations: tasks of this process queue in order, processes meet at a file that a crash frees."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tasks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, conversation: str) -> AsyncIterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        turnstile = self._tasks.setdefault(conversation, asyncio.Lock())
        file = self._folder / f"{hashlib.sha256(conversation.encode()).hexdigest()[:32]}.lock"
        async with turnstile, AsyncFileLock(file, poll_interval=0.02, run_in_executor=False):
            yield


class SqliteMemory:
    """Memory in one file of the data folder."""

    def __init__(self, connection: aiosqlite.Connection, holds: Holds) -> None:
        self.saver = AsyncSqliteSaver(connection, serde=_plain_data())
        self.hold = holds.hold
        self._connection = connection

    async def prune(self, conversation: str) -> None:
        latest = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = :thread"
        async with self.saver.lock:
            # Writes belong to runs that stopped half-way; nothing resumes them.
            for statement in (
                f"DELETE FROM checkpoints WHERE thread_id = :thread AND checkpoint_id < ({latest})",  # noqa: S608 (constant)
                "DELETE FROM writes WHERE thread_id = :thread",
            ):
                await self._connection.execute(statement, {"thread": conversation})

    async def forget(self, conversation: str) -> bool:
        return await self._forget([conversation]) > 0

    async def forget_unused(self, since: datetime) -> int:
        query = "SELECT thread_id FROM checkpoints GROUP BY thread_id HAVING max(checkpoint_id) < ?"
        async with self.saver.lock:
            rows = await self._connection.execute_fetchall(query, (_checkpoint_id(since),))
        return await self._forget([row[0] for row in rows])

    async def conversations(self) -> tuple[str, ...]:
        async with self.saver.lock:
            rows = await self._connection.execute_fetchall("SELECT DISTINCT thread_id FROM checkpoints")
        return tuple(row[0] for row in rows)

    async def _forget(self, conversations: list[str]) -> int:
        erased = 0
        async with self.saver.lock:
            for conversation in conversations:
                done = await self._connection.execute("DELETE FROM checkpoints WHERE thread_id = ?", (conversation,))
                await self._connection.execute("DELETE FROM writes WHERE thread_id = ?", (conversation,))
                erased += done.rowcount > 0
            # What was erased must not live on in the log of the last writes.
            await self._connection.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
        return erased


class PostgresMemory:
    """Memory in Postgres, shared by every process."""

    def __init__(self, pool: AsyncConnectionPool[AsyncConnection[DictRow]], holds: Holds) -> None:
        self.saver = AsyncPostgresSaver(pool, serde=_plain_data())
        self.hold = holds.hold
        self._pool = pool

    async def prune(self, conversation: str) -> None:
        try:
            await self.saver.aprune([conversation])
        except (errors.SerializationFailure, errors.DeadlockDetected):
            # Another process has just pruned the same conversation; the next turn prunes again.
            return

    async def forget(self, conversation: str) -> bool:
        return await self._forget([conversation]) > 0

    async def forget_unused(self, since: datetime) -> int:
        query = "SELECT thread_id FROM checkpoints GROUP BY thread_id HAVING max(checkpoint_id) < %s"
        async with self._pool.connection() as connection:
            rows = await (await connection.execute(query, (_checkpoint_id(since),))).fetchall()
        return await self._forget([row["thread_id"] for row in rows])

    async def conversations(self) -> tuple[str, ...]:
        async with self._pool.connection() as connection:
            rows = await (await connection.execute("SELECT DISTINCT thread_id FROM checkpoints")).fetchall()
        return tuple(row["thread_id"] for row in rows)

    async def _forget(self, conversations: list[str]) -> int:
        query = "SELECT count(DISTINCT thread_id) AS known FROM checkpoints WHERE thread_id = ANY(%s)"
        async with self._pool.connection() as connection:
            row = await (await connection.execute(query, (conversations,))).fetchone()
        await self.saver.aprune(conversations, strategy="delete")
        return row["known"] if row else 0


@asynccontextmanager
async def open_sqlite(file: Path, *, locks: Path) -> AsyncIterator[SqliteMemory]:
    """Memory in `file`, which several processes may have open. Raises MemoryAwayError."""
    async with AsyncExitStack() as stack:
        try:
            connection = await stack.enter_async_context(_connected(file))
            memory = SqliteMemory(connection, Holds(locks))
            await memory.saver.setup()
        except (OSError, sqlite3.Error) as error:
            raise MemoryAwayError(f"The memory of the conversations, {file}, cannot be opened: {error}.") from error
        yield memory


@asynccontextmanager
async def _connected(file: Path) -> AsyncIterator[aiosqlite.Connection]:
    _make_private(file)
    # Each statement commits itself: a run that is stopped between two of them leaves no transaction open,
    # which would keep every other process from writing.
    async with aiosqlite.connect(file, timeout=BUSY_SECONDS, isolation_level=None) as connection:
        for pragma in (
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "secure_delete=ON",
            f"wal_autocheckpoint={WAL_PAGES}",
            "journal_size_limit=65536",
        ):
            await connection.execute_fetchall(f"PRAGMA {pragma}")
        yield connection


@asynccontextmanager
async def open_postgres(
    address: str, *, locks: Path, connections: int = 4, patience: float = PATIENCE
) -> AsyncIterator[PostgresMemory]:
    """Memory in the database at `address` (libpq form, with the schema), where `migrate` made its tables.

    Raises MemoryAwayError where it is not there within `patience` seconds.
    """
    arguments = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool = AsyncConnectionPool[AsyncConnection[DictRow]](
        address, min_size=1, max_size=connections, open=False, kwargs=arguments
    )
    try:
        await pool.open(wait=True, timeout=patience)
    except PoolTimeout as error:
        await pool.close()
        raise MemoryAwayError("The memory of the conversations cannot be opened: its database is away.") from error
    try:
        yield PostgresMemory(pool, Holds(locks))
    finally:
        await pool.close()


def _make_private(file: Path) -> None:
    """What people said is for nobody else; SQLite's other files follow this one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)


def _plain_data() -> JsonPlusSerializer:
    """Refuses every type but plain data, when it is read and not only when it is renamed."""
    return JsonPlusSerializer(allowed_msgpack_modules=None)


def _checkpoint_id(moment: datetime) -> str:
    """The smallest checkpoint id of that moment: ids are UUIDs of version 6, which sort by time."""
    ticks = int((moment - datetime(1582, 10, 15, tzinfo=UTC)).total_seconds() * 10_000_000)
    return f"{ticks >> 28:08x}-{(ticks >> 12) & 0xFFFF:04x}-6{ticks & 0xFFF:03x}"
