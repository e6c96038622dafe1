"""The queue on Postgres: what was put there is worked on in order within its subject, also after a worker was killed."""

import asyncio
import select
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import psycopg
import structlog
from procrastinate import App, BaseRetryStrategy, PsycopgConnector, RetryDecision
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import DeleteJobCondition, Job
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolTimeout

log = structlog.get_logger()

POLL = 0.2
"""Seconds until a job whose lock has become free is found: the end of a job wakes nobody."""
HEARTBEAT = 2.0
STALLED = 8.0
"""Seconds without a heartbeat after which a worker counts as dead and its jobs are taken up again."""
GRACE = 20.0
"""Seconds that running jobs get to finish when the worker is asked to stop."""
WAIT = 2.5
"""Seconds to wait for a connection: Slack wants an answer within three."""
LONGEST_PAUSE = 300
GUARD = 0x7265736375  # key of the advisory lock of whoever takes up the jobs of dead workers
NIGHTLY = "17 3 * * *"


class Kind(StrEnum):
    """What there is to do; each has a queue of its own, so that none waits for another."""

    ANSWER = "answers"
    INGEST = "ingest"
    TIDY = "chores"


_STANDING = """
    SELECT queue_name AS queue, status::text AS state, count(*) AS count,
        coalesce(extract(epoch FROM now() - min(greatest(scheduled_at, put.at))
            FILTER (WHERE coalesce(scheduled_at <= now(), true))), 0)::float AS oldest
    FROM procrastinate_jobs AS job
    LEFT JOIN LATERAL (SELECT min(at) AS at FROM procrastinate_events WHERE job_id = job.id) AS put ON true
    WHERE status IN ('todo', 'doing', 'failed')
    GROUP BY queue_name, status
"""


class QueueError(Exception):
    """The queue cannot be reached."""

    def __str__(self) -> str:
        return self.__doc__ or ""


class RetryLaterError(Exception):
    """The work is to be tried again after so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"again in {seconds:g} s")
        self.seconds = seconds


@dataclass(frozen=True, kw_only=True)
class Jobs:
    """How many jobs of a queue are in a state, and for how many seconds the oldest that is due has been there."""

    queue: str
    state: str
    """procrastinate's word: todo, doing or failed."""
    count: int
    oldest: float


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How the whole queue stands; `stalled`: jobs of dead workers that nobody has taken up yet."""

    jobs: tuple[Jobs, ...]
    stalled: int


@dataclass(frozen=True, kw_only=True)
class Tasks:
    """Who does what. `answer` and `ingest` are called with the subject that was put in the queue."""

    answer: Callable[[str], Awaitable[None]]
    ingest: Callable[[str], Awaitable[None]]
    tidy: Callable[[], Awaitable[None]]


class Queue:
    """Use `open_queue`."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def put(self, kind: Kind, subject: str) -> None:
        """Stores a job. Jobs of one subject run one after another, in the order of putting."""
        job = self._app.configure_task(kind.value, queue=kind.value, lock=f"{kind.value}:{subject}")
        try:
            await job.defer_async(subject=subject)
        except (ConnectorException, psycopg.Error, PoolTimeout) as error:
            raise QueueError from error

    async def standing(self) -> Standing:
        """Raises QueueError."""
        try:
            rows = await self._app.connector.execute_query_all_async(_STANDING)
            stalled = await self._app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED)
        except (ConnectorException, psycopg.Error, PoolTimeout) as error:
            raise QueueError from error
        return Standing(jobs=tuple(Jobs(**row) for row in rows), stalled=len(list(stalled)))

    async def work(self, tasks: Tasks, *, at_once: int, ingest_at_once: int = 1) -> None:
        """Works until it is cancelled; running jobs then get a while to finish."""
        self._register(tasks)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._run([Kind.ANSWER], at_once))
            group.create_task(self._run([Kind.INGEST, Kind.TIDY], ingest_at_once))
            group.create_task(self._rescue())

    def _register(self, tasks: Tasks) -> None:
        async def tidy(timestamp: int) -> None:  # noqa: ARG001 - periodic tasks are given it
            await tasks.tidy()

        again = _Again()
        for kind, function in ((Kind.ANSWER, tasks.answer), (Kind.INGEST, tasks.ingest)):
            self._app.task(name=kind.value, queue=kind.value, retry=again)(_by_subject(function))
        task = self._app.task(name=Kind.TIDY.value, queue=Kind.TIDY.value, retry=again)(tidy)
        self._app.periodic(cron=NIGHTLY)(task)

    async def _run(self, kinds: list[Kind], at_once: int) -> None:
        """A worker, and another one when it has ended: it does when the database was away."""
        while True:
            try:
                await self._app.run_worker_async(
                    queues=[kind.value for kind in kinds],
                    concurrency=at_once,
                    fetch_job_polling_interval=POLL,
                    update_heartbeat_interval=HEARTBEAT,
                    stalled_worker_timeout=STALLED,
                    shutdown_graceful_timeout=GRACE,
                    delete_jobs=DeleteJobCondition.SUCCESSFUL,
                    install_signal_handlers=False,
                )
            except Exception as error:  # noqa: BLE001 - whatever ended this worker, the next one goes on
                log.warning("worker_ended", reason=str(error))
            await asyncio.sleep(1)

    async def _rescue(self) -> None:
        """Takes up the jobs of workers that have died: nobody else would, and their locks would hold for ever."""
        while True:
            try:
                await self._take_up_stalled()
            except (ConnectorException, psycopg.Error, PoolTimeout) as error:
                log.warning("rescue_failed", reason=str(error))
            await asyncio.sleep(HEARTBEAT)

    async def _take_up_stalled(self) -> None:
        async with self._alone() as alone:
            jobs = await self._app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED) if alone else ()
            for job in jobs:
                log.info("job_taken_up", job=job.id, attempts=job.attempts)
                await self._app.job_manager.retry_job(job)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[bool]:
        """True in one process at a time: of two, the second would restart what the first has just given away."""
        connector = self._app.connector
        assert isinstance(connector, PsycopgConnector)  # noqa: S101 - the only kind that `open_queue` makes
        async with connector.pool.connection() as connection, connection.transaction():
            found = await connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [GUARD])
            row = await found.fetchone()
            yield bool(row and row[0])


@asynccontextmanager
async def open_queue(conninfo: str, *, pool_size: int = 5, patience: float = 10.0) -> AsyncIterator[Queue]:
    """The queue in a database whose connections find procrastinate's schema.

    Raises QueueError where it is not there within `patience` seconds.
    """
    pool = AsyncConnectionPool(
        conninfo,
        min_size=1,
        max_size=pool_size,
        timeout=WAIT,
        check=_check,
        configure=_configure,
        open=False,
    )
    app = App(connector=PsycopgConnector())
    async with _opened(pool, patience), app.open_async(pool):
        yield Queue(app)


@asynccontextmanager
async def _opened(pool: AsyncConnectionPool, patience: float) -> AsyncIterator[None]:
    try:
        await pool.open(wait=True, timeout=patience)
    except (psycopg.Error, PoolTimeout) as error:
        await pool.close()
        raise QueueError from error
    try:
        yield
    finally:
        await pool.close()


async def _configure(connection: AsyncConnection) -> None:
    """Each of procrastinate's statements is whole by itself: a transaction around it would be two more round trips."""
    await connection.set_autocommit(True)


async def _check(connection: AsyncConnection) -> None:
    """Asks the server only where it has something to say: a connection that it has ended is readable, an idle one not."""
    readable, _, _ = select.select([connection.fileno()], [], [], 0)
    if readable:
        await AsyncConnectionPool.check_connection(connection)


def _by_subject(function: Callable[[str], Awaitable[None]]) -> Callable[[str], Awaitable[None]]:
    async def work(subject: str) -> None:
        await function(subject)

    return work


class _Again(BaseRetryStrategy):
    """Tries again when told to, when the worker was stopped, and with growing pauses when something broke."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, RetryLaterError):
            pause = exception.seconds
        elif isinstance(exception, asyncio.CancelledError):
            pause = 0.0
        else:
            pause = min(2.0**job.attempts, LONGEST_PAUSE)
        return RetryDecision(retry_at=datetime.now(UTC) + timedelta(seconds=pause))
