"""`crag start`, which is `make run`: everything set up, the examples taken in once, and then the main job."""

from pathlib import Path

from rich.console import Console

from bot.cli.ask import ask_once
from bot.cli.chat import talk
from bot.cli.ingest import take_in
from bot.cli.service import serve
from bot.questions import check
from bot.settings import Settings
from bot.wiring import Product, open_product

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


async def start(settings: Settings, ask: str | None) -> int:
    """Answers `ask` where there is such, runs the bot where Slack is set up, and chats otherwise."""
    if ask is not None:
        check(ask)
    elif settings.has_slack:
        return await serve(settings, worker=True)
    async with open_product(settings) as product:
        await _take_in_examples(product)
        if ask is None:
            await talk(product)
        else:
            await ask_once(product.answering, ask)
    return 0


async def _take_in_examples(product: Product) -> None:
    """Once, and never into a library that has documents of somebody else.

    The note in the data folder is written when all is in: what was interrupted half-way is done again.
    """
    note = product.settings.data_dir / "examples-taken-in"
    if note.exists() or not EXAMPLES.is_dir():
        return
    shared = product.settings.database_url is not None
    if not (shared and (await product.library.counts()).documents):
        console = Console(stderr=True, highlight=False)
        console.print("[dim]First run: taking in the examples.[/]")
        await take_in(product, [str(EXAMPLES)], console=console)
    note.touch()
