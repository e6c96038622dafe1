"""Measures search in a large library, in an embedded Postgres of its own that is gone afterwards."""

import argparse
import asyncio
import os
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bot.database.embedded import EmbeddedServer
from bot.database.engine import open_engine
from bot.database.migrate import migrate
from crag_graph.benchmarks.search import DIMENSIONS, FEATURES, LIMIT, Measurement, measure

COMMAND = "python -m bot.benchmarks.search"


async def run(folder: Path, passages: int, questions: int) -> list[Measurement]:
    server = await asyncio.to_thread(EmbeddedServer, folder)
    try:
        await migrate(server.url())
        engine = open_engine(server.url())
        try:
            return await measure(engine, passages=passages, questions=questions)
        finally:
            await engine.dispose()
    finally:
        await asyncio.to_thread(server.leave)


def report(measurements: Sequence[Measurement], *, passages: int, questions: int) -> str:
    rows = "\n".join(
        f"| {one.case} | {one.median:.1f} | {one.p95:.1f} | {one.recall:.3f} | {one.fewest} |" for one in measurements
    )
    return f"""# Search in {passages:,} passages

Made by `{COMMAND} --passages {passages} --questions {questions}` with Python {platform.python_version()} on
{os.cpu_count()} cores ({platform.machine()}).

Hybrid search for the best {LIMIT} passages, by vectors of {DIMENSIONS} dimensions around 1,000 topics and by 8 words
that are as common as in a language; each passage carries {FEATURES:,} bytes of features. Milliseconds from the call to
the passages, one question after another, without the embedding of the question. Recall: the share of what the same
search finds when it compares with every passage. Target: p95 of 5 ms at a recall of 0.95.

| visible | median ms | p95 ms | recall | fewest returned |
|---|---:|---:|---:|---:|
{rows}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crag-search-") as folder:
        Path(folder).chmod(0o755)  # for the user that Postgres runs as when root measures
        measurements = asyncio.run(run(Path(folder, "data"), options.passages, options.questions))
    text = report(measurements, passages=options.passages, questions=options.questions)
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
