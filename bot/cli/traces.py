"""`crag traces`: what was asked, and how each answer came about."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bot.cli.errors import UseError
from bot.cli.printing import line, near
from bot.settings import Settings
from bot.traces.reading import Filter, Page, Row, Trace, list_traces, show_trace
from bot.wiring import open_database

LONGEST_CELL = 60


def selection(*, since: str | None, until: str | None, **which: Any) -> Filter:
    return Filter(since=_moment("--since", since), until=_moment("--until", until), **which)


async def list_them(settings: Settings, which: Filter, *, after: str | None, limit: int, as_json: bool) -> int:
    async with open_database(settings) as database:
        page = await list_traces(database.engine, which, after=after, limit=limit)
    if as_json:
        print(line({"traces": page.runs, "next": page.next}))
    else:
        _print_page(Console(highlight=False), page)
    return 0


async def show(settings: Settings, trace_id: str, *, as_json: bool) -> int:
    async with open_database(settings) as database:
        trace = await show_trace(database.engine, trace_id)
    if trace is None:
        raise UseError(f"There is no trace {trace_id!r}. `crag traces list` shows which there are.")
    if as_json:
        print(line(asdict(trace)))
    else:
        print_trace(Console(highlight=False), trace)
    return 0


def print_trace(console: Console, trace: Trace) -> None:
    """The run, then its steps in order."""
    run = trace.run
    for name in ("question", "standalone", "verdict", "reason", "web_query", "answer", "notice", "error"):
        if run[name]:
            console.print(Text.assemble((f"{name:<12}", "bold"), str(run[name])))
    facts = (run["state"], f"{run['milliseconds'] or 0:.0f} ms", f"{run['calls']} model calls", f"trace {run['id']}")
    console.print(Text(" · ".join(facts), style="dim"))
    for step in trace.steps:
        console.print(f"\n[bold]{step['node']}[/] [dim]{step['milliseconds']:.0f} ms[/]")
        _print_detail(console, step["detail"])
        for fault in step["faults"]:
            console.print(Text(f"  {fault['kind']}: {fault['message']}", style="yellow"))
    for opinion in trace.feedback:
        console.print(f"\n{escape(opinion['person'])}: {'helpful' if opinion['helpful'] else 'not helpful'}")
    for review in trace.reviews:
        said = (
            review["rating"],
            review["verdict"] and f"verdict {review['verdict']}",
            review["note"],
            review["answer"],
        )
        console.print(Text(f"\n{review['reviewer']} reviewed: {' · '.join(filter(None, said))}"))


def _print_detail(console: Console, detail: Mapping[str, Any]) -> None:
    for number, passage in enumerate((*detail.get("passages", ()), *detail.get("pages", ())), 1):
        place = " · ".join(filter(None, (passage["title"], passage["location"])))
        console.print(f"  [cyan]{number}[/] {escape(place)} [dim]{escape(near(passage['source']))}[/]")
    for number, score in enumerate(detail.get("scores", ()), 1):
        console.print(f"  [cyan]{number}[/] {score['value']:.2f} [dim]{escape(score['reason'])}[/]")
    for judged in detail.get("strips", ()):
        mark = "[green]kept[/]   " if judged["kept"] else "[dim]dropped[/]"
        console.print(f"  {mark} {judged['score']['value']:.2f} {escape(_short(judged['strip']['text'], 90))}")
    for name in ("standalone", "verdict", "web_query"):
        if detail.get(name):
            console.print(Text(f"  {name}: {detail[name]}"))


def _print_page(console: Console, page: Page) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("when", "trace", "state", "verdict", "ms", "question"):
        table.add_column(column, overflow="fold", no_wrap=column != "question")
    for run in page.runs:
        table.add_row(*_cells(run))
    console.print(table)
    if page.next:
        console.print(f"[dim]More: --after {page.next}[/]")


def _cells(run: Row) -> tuple[Text | str, ...]:
    state = "abstained" if run["abstention"] else run["state"]
    milliseconds = "" if run["milliseconds"] is None else f"{run['milliseconds']:.0f}"
    question = "(erased)" if run["erased_at"] else _short(run["question"], LONGEST_CELL)
    when = run["started_at"].astimezone().strftime("%Y-%m-%d %H:%M")
    return when, run["id"], state, run["verdict"] or "", milliseconds, Text(question)


def _short(text: str, longest: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"


def _moment(option: str, text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone() if text else None
    except ValueError:
        raise UseError(f"{option} {text}: write a date as 2026-11-30, or a time as 2026-11-30T09:00.") from None
