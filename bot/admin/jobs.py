"""The page *Jobs*: what waits, what runs, what was tried in vain and why, and trying it now."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import text
from starlette.exceptions import HTTPException
from starlette.responses import Response

from bot.admin.visit import Visit, back
from bot.database.engine import JOBS_SCHEMA

MOST = 200

# A job says its subject, and the subject its team: a conversation of the team, or a source in a space of it.
_MINE = """
    (coalesce(args->>'subject', '') = '' OR starts_with(args->>'subject', :team || ':')
     OR starts_with(args->>'subject', 'ingest:' || :team || ':') OR starts_with(args->>'subject', 'ingest:' || :everybody || ':'))
"""
_COUNTS = text(f"""
    SELECT queue_name AS queue,
        count(*) FILTER (WHERE status = 'todo' AND attempts = 0) AS waiting,
        count(*) FILTER (WHERE status = 'doing') AS running,
        count(*) FILTER (WHERE status = 'todo' AND attempts > 0) AS retried,
        count(*) FILTER (WHERE status = 'failed') AS failed
    FROM {JOBS_SCHEMA}.procrastinate_jobs WHERE status IN ('todo', 'doing', 'failed') AND {_MINE}
    GROUP BY queue_name ORDER BY queue_name
""")  # noqa: S608 - a constant of ours
_LIST = text(f"""
    SELECT job.id, queue_name AS queue, status::text AS status, attempts, scheduled_at, args->>'subject' AS subject,
        coalesce(run.error, document.problem, '') AS reason, run.id AS run, document.id AS document
    FROM {JOBS_SCHEMA}.procrastinate_jobs AS job
    LEFT JOIN LATERAL (
        SELECT id, nullif(error, '') AS error FROM runs
        WHERE conversation = args->>'subject' AND queue_name = 'answers' ORDER BY started_at DESC LIMIT 1
    ) AS run ON true
    LEFT JOIN LATERAL (
        SELECT id, problem FROM documents
        WHERE state = 'failed' AND queue_name = 'ingest' AND 'ingest:' || space || ':' || source = args->>'subject'
        LIMIT 1
    ) AS document ON true
    WHERE status IN ('todo', 'doing', 'failed') AND {_MINE}
    ORDER BY array_position(ARRAY['failed', 'doing', 'todo'], status::text), attempts DESC, job.id
    LIMIT :most
""")  # noqa: S608 - a constant of ours
_RETRY = text(f"""
    UPDATE {JOBS_SCHEMA}.procrastinate_jobs
    SET status = 'todo', scheduled_at = NULL, worker_id = NULL, abort_requested = false
    WHERE id = :job AND status IN ('todo', 'failed') AND {_MINE}
""")  # noqa: S608 - a constant of ours


async def show_list(visit: Visit) -> Response:
    given = _whose(visit)
    async with visit.engine.connect() as connection:
        counts = (await connection.execute(_COUNTS, given)).mappings().all()
        found = (await connection.execute(_LIST, given | {"most": MOST})).mappings().all()
    return visit.page("jobs.html", counts=counts, jobs=[_told(dict(job)) for job in found], most=MOST)


async def retry(visit: Visit) -> Response:
    """A worker takes it up at its next look."""
    job = visit.number("job")
    async with visit.engine.begin() as connection:
        await connection.execute(text(f"SET LOCAL search_path TO {JOBS_SCHEMA}"))  # its triggers name no schema
        found = await connection.execute(_RETRY, {"job": job, **_whose(visit)})
    if not found.rowcount:
        raise HTTPException(404)
    await visit.note("retried a job", str(job))
    return back("/admin/jobs")


def _whose(visit: Visit) -> dict[str, str]:
    return {"team": visit.team, "everybody": visit.everybody}


def _told(job: Mapping[str, Any]) -> dict[str, Any]:
    """In words: procrastinate's `todo` is waiting for its first or for another try."""
    state = {"doing": "running", "failed": "failed"}.get(job["status"], "tries again" if job["attempts"] else "waiting")
    return dict(job) | {"state": state, "retriable": job["status"] == "failed" or bool(job["attempts"])}
