"""`crag ingest`: takes documents into the library, and tells how it goes."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from bot.cli.asking import EVERYBODY
from bot.cli.printing import line, near
from bot.settings import Settings
from bot.wiring import Product, open_product
from crag_graph.knowledge.ingest import Ingested, Outcome, Step

ADDED_BY = "terminal"
SIGNS = {
    Outcome.ADDED: ("+", "green"),
    Outcome.REPLACED: ("~", "green"),
    Outcome.UNCHANGED: ("=", "dim"),
    Outcome.SKIPPED: ("-", "dim"),
    Outcome.FAILED: ("✗", "red"),
}
ANALYSE_FROM = 20
"""Documents taken in at once from which search's figures on words are made anew."""


async def ingest(settings: Settings, sources: Sequence[str], *, space: str | None, as_json: bool) -> int:
    """1 where a document failed; the others are in."""
    async with open_product(settings) as product:
        results = await take_in(product, sources, space=space or EVERYBODY, console=Console(stderr=True))
    if as_json:
        print(line([_result(result) for result in results]))
    else:
        report(Console(highlight=False), results)
    return int(any(result.outcome is Outcome.FAILED for result in results))


async def take_in(
    product: Product, sources: Sequence[str], *, space: str = EVERYBODY, console: Console
) -> list[Ingested]:
    """Takes in all of them, with a bar on the console."""
    results: list[Ingested] = []
    with bar(console) as shown:
        for source in sources:
            follow = follower(shown)
            taken = product.ingest.ingest(source, space=space, added_by=ADDED_BY, progress=follow)
            results += [result async for result in taken]
    if sum(result.outcome in {Outcome.ADDED, Outcome.REPLACED} for result in results) >= ANALYSE_FROM:
        await product.library.refresh_statistics()
    return results


def bar(console: Console) -> Progress:
    """It goes away when it is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


def follower(shown: Progress) -> Callable[[Step], None]:
    """Shows the steps of one source: the documents, and the passages of the present one."""
    documents = shown.add_task("Documents", total=None)
    passages = shown.add_task("Passages", total=None, visible=False)

    def follow(step: Step) -> None:
        name = step.source.rsplit("/", 1)[-1] or step.source
        shown.update(documents, total=step.total, completed=step.number - 1)
        shown.update(
            passages, description=name, total=step.passages or None, completed=step.done, visible=bool(step.passages)
        )

    return follow


def report(console: Console, results: Sequence[Ingested]) -> None:
    """A line for each document that is not as before, and the sum."""
    for result in results:
        if result.outcome is not Outcome.UNCHANGED:
            console.print(_told(result))
    counts = Counter(result.outcome.value for result in results)
    passages = sum(result.document.passages for result in results if result.document)
    console.print(f"{', '.join(f'{count} {outcome}' for outcome, count in counts.items())}; {passages} passages")


def _told(result: Ingested) -> Text:
    sign, colour = SIGNS[result.outcome]
    told = Text.assemble((f"{sign} ", colour), near(result.source))
    if result.document and result.outcome is not Outcome.FAILED:
        superseded = ", superseded" if result.document.superseded else ""
        told.append(f"  {result.document.title}, {result.document.passages} passages{superseded}", style="dim")
    return told.append(f"  {result.reason}", style=colour) if result.reason else told


def _result(result: Ingested) -> dict[str, Any]:
    document = asdict(result.document) if result.document else None
    return {
        "source": result.source,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "document": document,
    }
