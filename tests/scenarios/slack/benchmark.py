"""Measures the Slack side against the local Slack: `python -m tests.scenarios.slack.benchmark > benchmarks/slack.md`.

The bot runs in a process of its own with the real queue, inbox, memory and traces on an embedded Postgres with its
usual durability; model, evaluator and web are scripted and take no time.
"""

import asyncio
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from bot import logs
from bot.database.embedded import EmbeddedServer
from bot.database.migrate import migrate
from bot.slack.replies.pace import Budget, Pace
from bot.slack.views.home import SETTINGS_LABEL
from tests.scenarios.slack.bot import Address, Options, open_bot, scripted, served
from tests.slack_workspace import Message, Person, SlackWorkspace, Timing
from tests.slack_workspace.modal import Modal

A_SECOND = 20
SECONDS = 20
ONE_BY_ONE = 50
AT_ONCE = 300
WARM_UP = 10
PRESSED = 50
WINDOWS = ("How I got here", "Not helpful")
"""Buttons that open a window; the others say something to whoever pressed."""
SAYING = ("Helpful", "Ask again", "Search the web too")
PROCESSES = multiprocessing.get_context("spawn")


def run_bot(address: Address, database_url: str, folder: str, http: bool, ready: "Connection[str, str]") -> None:
    """The main function of the bot's process."""
    logs.configure("error")
    asyncio.run(_bot(address, database_url, Path(folder), http, ready))


async def _bot(address: Address, database_url: str, folder: Path, http: bool, ready: "Connection[str, str]") -> None:
    # As many signs as questions: what is measured is the time of a sign, not that it is left out.
    pace = Pace(statuses=Budget(calls=100_000), sessions=Budget(calls=100_000))
    options = Options(http=http, pace=pace, pool_size=12)  # as many at once as by default
    async with open_bot(address, database_url, folder, services=scripted(), options=options) as bot:
        if bot.slack.sockets:
            ready.send("")
            await bot.slack.sockets.listen()
        else:
            async with served(bot.slack) as url:
                ready.send(url)
                await asyncio.sleep(float("inf"))


@asynccontextmanager
async def bot(slack: SlackWorkspace, database_url: str, folder: Path, *, http: bool) -> AsyncIterator[None]:
    here, there = PROCESSES.Pipe()
    process = PROCESSES.Process(
        target=run_bot, args=(Address.of(slack), database_url, str(folder), http, there), daemon=True
    )
    process.start()
    url = await asyncio.to_thread(here.recv)
    if http:
        slack.deliver_to(url)
    else:
        await slack.connected()
    try:
        yield
    finally:
        process.kill()
        await asyncio.to_thread(process.join)


def percentile(values: Sequence[float], share: float) -> float:
    """Of milliseconds."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def row(what: str, values: Sequence[float], target: str) -> str:
    cells = [statistics.median(values), percentile(values, 0.95), percentile(values, 0.99), max(values)]
    return " | ".join([f"| {what}", str(len(values)), *(f"{cell:.0f}" for cell in cells), f"{target} |"])


async def ask_one_by_one(slack: SlackWorkspace) -> tuple[list[float], list[float]]:
    """Milliseconds from a question to the first sign of work, and to its answer."""
    ada = slack.user("Ada")
    place = slack.channel("quiet", members=[ada, slack.bot])
    signs, answers = [], []
    for number in range(WARM_UP + ONE_BY_ONE):
        question = await ada.says(f"@bot How many weeks, {number}?", in_=place)
        reply = await slack.reply_to(question)
        await slack.quiet(0.05)
        if number >= WARM_UP:
            first = next(c for c in slack.calls() if c.args.get("thread_ts") == question.ts)
            signs.append((first.at - float(question.ts)) * 1000)
            answers.append((float(reply.ts) - float(question.ts)) * 1000)
    return signs, answers


async def ask_many(slack: SlackWorkspace) -> tuple[list[float], list[float]]:
    """Milliseconds to the acknowledgement of each event, and to each answer, at so many questions a second."""
    ada = slack.user("Ada")
    places = [slack.channel(f"busy-{n}", members=[ada, slack.bot]) for n in range(A_SECOND)]
    before = len(slack.deliveries)
    asked: list[Message] = []
    loop = asyncio.get_running_loop()
    started = loop.time()
    for number in range(A_SECOND * SECONDS):
        await asyncio.sleep(max(0.0, started + number / A_SECOND - loop.time()))
        asked.append(await ada.says(f"@bot How many weeks, {number}?", in_=places[number % A_SECOND]))
    answers = []
    for question in asked:
        reply = await slack.reply_to(question, within=60)
        answers.append((float(reply.ts) - float(question.ts)) * 1000)
    acks = [d.ack_seconds * 1000 for d in slack.deliveries[before:] if d.ack_seconds is not None]
    return acks, answers


async def ask_at_once(slack: SlackWorkspace) -> float:
    """Answers a second while many questions wait."""
    ada = slack.user("Ada")
    places = [slack.channel(f"full-{n}", members=[ada, slack.bot]) for n in range(A_SECOND)]
    loop = asyncio.get_running_loop()
    started = loop.time()
    asked = [await ada.says(f"@bot How many weeks, {n}?", in_=places[n % A_SECOND]) for n in range(AT_ONCE)]
    for question in asked:
        await slack.reply_to(question, within=120)
    return AT_ONCE / (loop.time() - started)


async def press(slack: SlackWorkspace) -> dict[str, list[float]]:
    """Milliseconds from a press to what the person sees of it, by button; each answer's buttons are pressed in a row."""
    ada = slack.user("Ada")
    place = slack.channel("pressed", members=[ada, slack.bot])
    seen: dict[str, list[float]] = {label: [] for label in (*WINDOWS, *SAYING, SETTINGS_LABEL())}
    for number in range(WARM_UP + PRESSED):
        question = await ada.says(f"@bot How many weeks, {number}?", in_=place)
        answer = await slack.reply_to(question, until=lambda reply: bool(reply.buttons))
        home = await ada.opens_home()
        for label, took in seen.items():
            milliseconds = await _press(slack, ada, label, home if label == SETTINGS_LABEL() else answer)
            if number >= WARM_UP:
                took.append(milliseconds)
        await slack.until(lambda: [bool(one.buttons) for one in slack.replies(question)] == [True] * 3)  # noqa: B023 - awaited
    return seen


async def _press(slack: SlackWorkspace, person: Person, label: str, on: Message | Modal) -> float:
    since, pressed = slack.clock.ts(), time.perf_counter()
    outcome = await person.clicks(label, on=on)
    if not outcome.ok:
        raise RuntimeError(f"{label}: {outcome.error}")
    if label in SAYING and isinstance(on, Message):
        await person.is_shown(in_=on.channel, since=since)
        return (time.perf_counter() - pressed) * 1000
    window = await person.sees_modal()
    milliseconds = (time.perf_counter() - pressed) * 1000
    await person.closes(window)
    return milliseconds


async def measure(url: str, folder: Path, *, http: bool) -> list[str]:
    name = "HTTP" if http else "Socket Mode"
    async with SlackWorkspace(timing=Timing(), patience=30) as slack, bot(slack, url, folder, http=http):
        signs, alone = await ask_one_by_one(slack)
        pressed = await press(slack)
        acks, busy = await ask_many(slack)
        rate = await ask_at_once(slack)
    return [
        row(f"{name}: event in → first sign of work", signs, "≤ 300"),
        row(f"{name}: event in → answer posted, one at a time", alone, "median ≤ 45, p95 ≤ 90"),
        *(row(f"{name}: “{label}” pressed → seen", took, "p99 ≤ 300") for label, took in pressed.items()),
        row(f"{name}: acknowledgement, {A_SECOND} questions a second", acks, "p99 ≤ 100"),
        row(f"{name}: event in → answer posted, {A_SECOND} questions a second", busy, ""),
        f"| {name}: answers a second, {AT_ONCE} questions waiting | {AT_ONCE} | {rate:.0f} | | | | ≥ 25 |",
    ]


async def measure_apart(*, http: bool) -> list[str]:
    """With a database of its own: two local Slacks give out the same ids."""
    with tempfile.TemporaryDirectory() as folder:
        server = await asyncio.to_thread(EmbeddedServer, Path(folder))
        try:
            await migrate(server.url())
            return await measure(server.url(), Path(folder), http=http)
        finally:
            await asyncio.to_thread(server.leave)


async def main() -> None:
    rows = [line for http in (False, True) for line in await measure_apart(http=http)]
    load = os.getloadavg()[0]
    sys.stdout.write(
        "\n".join(
            [
                "# The Slack side, in milliseconds",
                "",
                "`python -m tests.scenarios.slack.benchmark`: the bot in a process of its own (queue, inbox, memory and",
                "traces on an embedded Postgres with its usual durability), the local Slack in another; model, evaluator",
                f"and web take no time. {os.cpu_count()} cores, load {load:.1f} at the end.",
                "",
                "| what | n | median | p95 | p99 | max | target |",
                "|---|---|---|---|---|---|---|",
                *rows,
                "",
                "A killed worker's conversation goes on within 15 seconds (8 s without a heartbeat, looked for every 2 s):",
                "`tests/scenarios/slack/test_killing.py` measures it.",
                "",
            ]
        )
    )


if __name__ == "__main__":
    logs.configure("error")
    asyncio.run(main())
