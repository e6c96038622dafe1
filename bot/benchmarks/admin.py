"""How long the review pages take with 100,000 traces: `python -m bot.benchmarks.admin --output benchmarks/admin.md`."""

import argparse
import asyncio
import json
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg

from bot import logs
from bot.admin.admins import Admins
from bot.admin.application import mount
from bot.admin.desk import Desk
from bot.admin.links import Links
from bot.prices import Price
from bot.server import build
from bot.settings import Settings
from bot.wiring import Product, open_product

COMMAND = "python -m bot.benchmarks.admin --output benchmarks/admin.md"
ADDRESS = "http://127.0.0.1"
TEAM, ADMIN = "T1", "U1"
DAYS = 90
GAPS = 400
DOCUMENTS = 2_000
LIMIT = 200
"""Milliseconds."""
NODES = ("contextualize", "retrieve", "evaluate", "refine", "generate")
RARE, COMMON = "zyzzogeton", "holiday"
PAGES = {
    "traces, the newest": "/admin/traces",
    "traces, in the middle": "/admin/traces?after={middle}",
    "filter: verdict": "/admin/traces?verdict=ambiguous",
    "filter: not helpful": "/admin/traces?feedback=unhelpful",
    "filter: helpful, a person": "/admin/traces?feedback=helpful&person=U17",
    "filter: reviewed as wrong": "/admin/traces?review=wrong",
    "filter: not reviewed": "/admin/traces?review=none",
    "filter: no answer": "/admin/traces?abstained=1",
    "filter: errors": "/admin/traces?errors=1",
    "filter: slow": "/admin/traces?slow=1",
    "filter: failed, in a channel": "/admin/traces?state=failed&channel=C7",
    "filter: nothing is like this": "/admin/traces?verdict=incorrect&review=good&channel=C7&slow=1",
    "filter: a day": "/admin/traces?since={day}&until={day}",
    "filter: a model that was never used": "/admin/traces?model=none",
    "search: a rare word": f"/admin/traces?q={RARE}",
    "search: a word of every tenth trace": f"/admin/traces?q={COMMON}",
    "search: no such word": "/admin/traces?q=xylophonist",
    "search: two letters that occur nowhere": "/admin/traces?q=%C3%9F%C3%9F",
    "search: a common word, not helpful": f"/admin/traces?q={COMMON}&feedback=unhelpful",
    "one trace": "/admin/traces/{trace}",
    "overview, 7 days": "/admin/overview?days=7",
    "overview, 30 days": "/admin/overview?days=30",
    "overview, 90 days": "/admin/overview?days=90",
    "overview, all of them": "/admin/overview?days=365",
    "gaps": "/admin/gaps",
    "gaps as CSV": "/admin/gaps.csv",
    "library": "/admin/library",
    "library, never cited": "/admin/library?cited=no",
    "jobs": "/admin/jobs",
    "audit": "/admin/audit",
}


async def measure(traces: int, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each page, at the server: from the request's arrival to the whole page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with open_product(Settings(data_dir=Path(folder))) as product:
            await asyncio.to_thread(fill, product.database.url, traces)
            desk = _desk(product)
            places = await asyncio.to_thread(_places, product.database.url)
            transport = httpx.ASGITransport(app=build(desk.engine, [mount(desk)]))
            async with httpx.AsyncClient(transport=transport, base_url=ADDRESS, follow_redirects=True) as client:
                await client.post(await desk.links.make_for(TEAM, ADMIN) or "")
                return {name: await _timed(client, path.format(**places), rounds) for name, path in PAGES.items()}


async def _timed(client: httpx.AsyncClient, path: str, rounds: int) -> list[float]:
    times = []
    for _ in range(rounds + 1):
        since = time.perf_counter()
        answer = await client.get(path)
        times.append((time.perf_counter() - since) * 1000)
        answer.raise_for_status()
    return times[1:]


def _desk(product: Product) -> Desk:
    admins = Admins(named=frozenset({ADMIN}))
    return Desk(
        engine=product.database.engine,
        admins=admins,
        links=Links(product.database.engine, admins, address=ADDRESS),
        answering=product.answering,
        embedder=product.ingest.embedder,
        ingest=product.ingest,
        experts=product.experts,
        prices={"gpt-4.1-mini": Price(prompt=0.4, completion=1.6)},
    )


def fill(url: str, traces: int) -> None:
    """Traces of the last 90 days, their steps, opinions, reviews and gaps, and a library that they cite."""
    chance = random.Random(5)  # noqa: S311 - made-up data
    with psycopg.connect(url) as connection:
        for index in TEXTS:
            connection.execute(f"DROP INDEX runs_{index}_text")  # made anew below: quicker than row by row
        _copy(connection, "runs", RUN, (_run(number, traces, chance) for number in range(traces)))
        _copy(connection, "steps", STEP, (step for number in range(traces) for step in _steps(number, chance)))
        for index in TEXTS:
            connection.execute(f"CREATE INDEX runs_{index}_text ON runs USING gin ({index} gin_trgm_ops)")
        for statement in OTHERS:
            connection.execute(
                statement, {"model": "all-MiniLM-L6-v2-int8", "team": TEAM, "gaps": GAPS, "documents": DOCUMENTS}
            )
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


TEXTS = ("question", "answer")
RUN = (
    "id", "team", "channel", "conversation", "asker", "state", "question", "standalone", "verdict", "reason", "answer",
    "abstention", "citations", "calls", "prompt_tokens", "completion_tokens", "faults", "milliseconds", "model",
    "review", "started_at",
)  # fmt: skip
STEP = ("run", "ordinal", "node", "milliseconds", "detail", "calls", "faults")
OTHERS = (
    (
        "INSERT INTO feedback (run, person, team, helpful, given_at) SELECT id, asker, team, random() < 0.8, started_at"
        " FROM runs WHERE random() < 0.15"
    ),
    "INSERT INTO reviews (run, reviewer, team, rating) SELECT id, 'U1', team, review FROM runs WHERE review IS NOT NULL",
    "INSERT INTO gaps (team) SELECT %(team)s FROM generate_series(1, %(gaps)s)",
    (
        "INSERT INTO gap_runs (run, gap, asked_at, unanswered, model, embedding)"
        " SELECT id, 1 + (random() * (%(gaps)s - 1))::int, started_at, abstention IS NOT NULL, %(model)s,"
        " array_fill(0.05::real, ARRAY[384])::halfvec FROM runs WHERE abstention IS NOT NULL OR review <> 'good'"
        " OR id IN (SELECT run FROM feedback WHERE NOT helpful)"
    ),
    (
        "INSERT INTO documents (space, source, title, loader, digest, size, added_by, state, passages) SELECT 'workspace',"
        " '/handbook/' || n || '.md', 'Document ' || n, 'markdown', '', 1000, 'U1', 'ready', 5"
        " FROM generate_series(1, %(documents)s) AS n"
    ),
    "INSERT INTO audit (team, person, action, subject) SELECT team, 'U1', 'reviewed', id FROM runs LIMIT 20000",
)


def _run(number: int, traces: int, chance: random.Random) -> tuple[Any, ...]:
    verdict = chance.choices(("correct", "ambiguous", "incorrect"), (70, 20, 10))[0]
    state = "failed" if chance.random() < 0.01 else "answered"
    cited = [_citation(mark, chance) for mark in (1, 2)]
    return (
        f"{number:016x}", TEAM, f"C{min(int(chance.expovariate(0.1)), 60)}", f"{TEAM}:C1:{number // 3}",
        f"U{int(chance.expovariate(0.02))}", state, _text(8, chance), _text(9, chance), verdict, _text(10, chance),
        _text(90, chance) + (f" {RARE}" if number % 20_000 == 7 else ""),
        "too_weak" if verdict == "incorrect" and chance.random() < 0.6 else None, json.dumps(cited),
        chance.randint(1, 3), chance.randint(500, 3000), chance.randint(50, 400), int(chance.random() < 0.03),
        chance.lognormvariate(7, 0.6), "gpt-4.1-mini",
        chance.choices((None, "good", "wrong", "incomplete"), (960, 20, 15, 5))[0],
        datetime.now(UTC) - timedelta(days=DAYS) * (1 - number / traces),
    )  # fmt: skip


def _steps(number: int, chance: random.Random) -> Iterator[tuple[Any, ...]]:
    for ordinal, node in enumerate(NODES):
        detail = {"passages": [_passage(place, chance) for place in range(4)]} if node == "retrieve" else {}
        yield f"{number:016x}", ordinal, node, chance.lognormvariate(4, 0.8), json.dumps(detail), "[]", "[]"


def _passage(number: int, chance: random.Random) -> Mapping[str, Any]:
    text = _text(60, chance)
    named = {"title": "Handbook", "location": "", "source": f"/handbook/{number}.md", "superseded": False}
    return {"id": str(number), "text": text, **named}


def _citation(mark: int, chance: random.Random) -> Mapping[str, Any]:
    source = f"/handbook/{int(chance.expovariate(0.01))}.md"
    return {"mark": mark, "kind": "internal", "title": "Handbook", "source": source, "location": "", "quote": "So."}


SYLLABLES = ("ka", "lo", "mi", "ren", "tu", "sal", "vor", "ne", "pi", "dar", "gos", "hem")
WORDS = [a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES]


def _text(words: int, chance: random.Random) -> str:
    """Words that were made up, the first ones much more often; one text in ten names what many ask about."""
    chosen = [WORDS[int(len(WORDS) * chance.random() ** 3)] for _ in range(words)]
    return " ".join([*chosen, COMMON] if words == 90 and chance.random() < 0.1 else chosen)  # the answers


def _copy(
    connection: psycopg.Connection[Any], table: str, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]
) -> None:
    with connection.cursor().copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _places(url: str) -> dict[str, str]:
    """A trace, a day and a cursor in the middle."""
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT id, started_at FROM runs ORDER BY started_at DESC OFFSET (SELECT count(*) / 2 FROM runs) LIMIT 1"
        ).fetchone()
    assert row  # noqa: S101 - it was filled
    moment = row[1].astimezone(UTC)
    return {"trace": row[0], "day": f"{moment:%Y-%m-%d}", "middle": f"{moment:%Y-%m-%dT%H:%M:%S.%f%%2B00:00}_{row[0]}"}


def report(found: Mapping[str, list[float]], traces: int) -> str:
    rows = [f"| {name} | {statistics.median(times):.0f} | {max(times):.0f} |" for name, times in found.items()]
    return "\n".join(
        [
            "# The review pages",
            "",
            f"Milliseconds at the server, from the request's arrival to the whole page, with {traces:,} traces of {DAYS} days",
            f"in the embedded Postgres, page after page, {len(next(iter(found.values())))} rounds. The aim is {LIMIT} ms.",
            "",
            f"`{COMMAND}` on {platform.machine()}, Python {platform.python_version()}",
            "",
            "| page | median | slowest |",
            "|---|---:|---:|",
            *rows,
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    logs.configure("error")
    table = report(asyncio.run(measure(options.traces, options.rounds)), options.traces)
    if options.output:
        options.output.write_text(table, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
