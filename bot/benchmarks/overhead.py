"""What the product itself costs a question, how a conversation's memory grows, and how soon the first answer is there.

Needs a chat model and a web search that answer at once:
`python -m tests.fakes.serving python -m bot.benchmarks.overhead --output benchmarks/overhead.md`.
"""

import argparse
import asyncio
import os
import platform
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bot import logs
from bot.answering import Answering
from bot.questions import Question
from bot.settings import Settings, bare_environment, read
from bot.wiring import Product, open_product, policy
from crag_graph.domain import Passage, Progress, Strip
from crag_graph.services import Evaluation, Evaluator, Filtering

COMMAND = "python -m tests.fakes.serving python -m bot.benchmarks.overhead --output benchmarks/overhead.md"
ROOT = Path(__file__).resolve().parents[2]
SPACE = "workspace"
WARM_UP = 5
WAYS = {
    "correct": "What is gradient descent?",
    "ambiguous": "How does batch normalisation compare with layer normalisation?",
    "incorrect": "What is a Transformer architecture in deep learning?",
}
TALK = ("How many days of parental leave do I get?", "And for adoption?", "What is gradient descent?")
MARKS = (1, 10, 50, 100)
"""Turns after which the memory's size is read."""

Judgement = TypeVar("Judgement")


@dataclass
class Apart:
    """An evaluator that counts the milliseconds it takes, and of them those of computing on the event loop's thread."""

    own: Evaluator
    milliseconds: float = 0.0
    computing: float = 0.0

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        return await self._timed(lambda: self.own.evaluate(question, passages))

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        return await self._timed(lambda: self.own.filter(question, strips))

    async def _timed(self, work: Callable[[], Awaitable[Judgement]]) -> Judgement:
        since, computing = time.perf_counter(), time.thread_time()
        try:
            return await work()
        finally:
            self.milliseconds += (time.perf_counter() - since) * 1000
            self.computing += (time.thread_time() - computing) * 1000


@dataclass(frozen=True, kw_only=True)
class Times:
    """One question, in milliseconds: the whole, and of it the evaluator, the model's and the web's round trips.

    `computing`: on the event loop's thread, without the evaluator; it does not grow when the machine has other work.
    """

    whole: float
    evaluator: float
    outside: float
    computing: float

    @property
    def own(self) -> float:
        """The product's own time: outside services answer at once, so that their clients count as ours."""
        return self.whole - self.evaluator


async def overhead(product: Product, rounds: int) -> dict[str, list[Times]]:
    """Questions one after the other, each in a conversation of its own, by the way they take."""
    apart = Apart(product.services.evaluator)
    answering = Answering(
        services=replace(product.services, evaluator=apart),
        policy=policy(product.settings),
        memory=product.memory,
        recorder=product.recorder,
    )
    times: dict[str, list[Times]] = {}
    for way, question in WAYS.items():
        taken = [await _timed(answering, apart, question) for _ in range(WARM_UP + rounds)]
        times[way] = taken[WARM_UP:]
    return times


async def _timed(answering: Answering, apart: Apart, text: str) -> Times:
    apart.milliseconds = apart.computing = 0.0
    since, computing = time.perf_counter(), time.thread_time()
    answered = await answering.answer(_question(text, secrets.token_hex(4)), _quietly)
    whole = (time.perf_counter() - since) * 1000
    calls = sum(call.milliseconds for call in answered.calls)
    return Times(
        whole=whole,
        evaluator=apart.milliseconds,
        outside=calls + answered.timings.get("search_web", 0.0),
        computing=(time.thread_time() - computing) * 1000 - apart.computing,
    )


async def growth(product: Product, marks: Sequence[int] = MARKS) -> dict[int, int]:
    """Bytes on the disk after so many turns of one conversation."""
    sizes: dict[int, int] = {}
    for turn in range(1, marks[-1] + 1):
        await product.answering.answer(_question(TALK[turn % len(TALK)], "growth"), _quietly)
        if turn in marks:
            sizes[turn] = _memory_size(product.settings.data_dir)
    return sizes


async def first_answer(runs: int) -> list[float]:
    """Seconds of `crag start` with a question in an empty data folder: database, examples and answer."""
    return [await _first_answer() for _ in range(runs)]


async def _first_answer() -> float:
    with _empty_folder() as folder:
        since = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", "from bot.cli import main; main()", "start", "--ask", WAYS["correct"]),
            cwd=ROOT,
            env=bare_environment() | {"CRAG_DATA_DIR": folder},
            stdout=asyncio.subprocess.DEVNULL,
        )
        if await process.wait():
            raise RuntimeError("`crag start` failed")
        return time.perf_counter() - since


@contextmanager
def _empty_folder() -> Iterator[str]:
    """Postgres, which root runs as another user, must reach it: then all of it goes with the folder."""
    with tempfile.TemporaryDirectory(prefix="crag-benchmark-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        yield folder


def _question(text: str, conversation: str) -> Question:
    return Question(text=text, conversation=f"local:benchmark:{conversation}", spaces=(SPACE,))


async def _quietly(_progress: Progress) -> None:
    """Nobody watches."""


def _memory_size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("memory.sqlite*") if not file.name.endswith("-shm"))


async def measure(options: argparse.Namespace) -> str:
    started = await first_answer(options.starts)
    with _empty_folder() as folder:
        async with open_product(_settings(options, folder)) as product:
            async for _ in product.ingest.ingest(ROOT / "examples", space=SPACE, added_by="benchmark"):
                pass
            sizes = await growth(product)
            times = await overhead(product, options.rounds)
    return report(times, sizes, started, rounds=options.rounds)


def _settings(options: argparse.Namespace, folder: str) -> Settings:
    """As somebody would set them who has a model and a web search."""
    chat = dict(pair.split("=", 1) for pair in options.chat)
    return read(
        {
            "CRAG_DATA_DIR": folder,
            "OPENAI_BASE_URL": chat["0"],
            "OPENAI_API_KEY": options.key,
            "CRAG_CHAT_MODEL": options.model,
            "TAVILY_API_KEY": options.web_key,
            "CRAG_TAVILY_BASE_URL": options.web,
        },
        None,
    )


def report(times: dict[str, list[Times]], sizes: dict[int, int], started: Sequence[float], *, rounds: int) -> str:
    """Everything as Markdown."""
    lines = [
        "# What the product itself costs",
        "",
        f"`{COMMAND}`",
        "",
        (
            f"{rounds} questions a row, one after the other, on {os.cpu_count()} cores, "
            f"Python {platform.python_version()}. Embedded Postgres, search, memory, trace, clients and the local "
            "evaluator are real; the chat model and the web are local servers that answer at once. Milliseconds."
        ),
        "",
        "| way | ours, median | ours, p95 | of it computing | of it model and web clients | evaluator | whole, median |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(_row(way, taken) for way, taken in times.items()),
        "",
        (
            "The longer an answer, the more of ours is the client reading a stream word by word: with a real model that "
            "happens while the model writes."
        ),
        "",
        "One conversation's memory on the disk (SQLite and its log):",
        "",
        "| turns | bytes |",
        "|---:|---:|",
        *(f"| {turns} | {size:,} |" for turns, size in sizes.items()),
        "",
        (
            "From `crag start` in an empty data folder to the first answer (embedded Postgres made and started, "
            "migrated, examples taken in, question answered), seconds: "
            f"{', '.join(f'{seconds:.1f}' for seconds in started)}."
        ),
    ]
    return "\n".join(lines) + "\n"


def _row(way: str, taken: Sequence[Times]) -> str:
    own = [times.own for times in taken]
    return (
        f"| {way} | {statistics.median(own):.1f} | {statistics.quantiles(own, n=20)[-1]:.1f} "
        f"| {statistics.median(times.computing for times in taken):.1f} "
        f"| {statistics.median(times.outside for times in taken):.1f} "
        f"| {statistics.median(times.evaluator for times in taken):.1f} "
        f"| {statistics.median(times.whole for times in taken):.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chat", action="append", required=True, help="DELAY=URL of a model server")
    parser.add_argument("--web", required=True, help="URL of a Tavily server")
    parser.add_argument("--key", default="sk-local")
    parser.add_argument("--model", default="local-chat")
    parser.add_argument("--web-key", default="tvly-local")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    logs.configure("warning")
    text = asyncio.run(measure(options))
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
