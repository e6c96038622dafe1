"""`crag chat`: a conversation with the library in the terminal."""

import asyncio
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Self

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import HTML
from prompt_toolkit.history import FileHistory
from rich.console import Console
from rich.status import Status
from rich.text import Text

from bot.cli.asking import question
from bot.cli.errors import explained
from bot.cli.printing import COLOURS, STAGES, print_answer, print_citation
from bot.cli.traces import print_trace
from bot.questions import Answered, AnswerFailedError, QuestionError
from bot.settings import Settings
from bot.traces.reading import show_trace
from bot.wiring import Product, open_product
from crag_graph.domain import Progress, Stage, TextDelta, Verdict

COMMANDS = {
    "/new": "begin a new conversation",
    "/sources": "show the sources of the last answer again",
    "/trace": "show how the last answer came about",
    "/help": "show this",
    "/quit": "leave (also Ctrl-D)",
}


async def chat(settings: Settings, conversation: str | None, space: str | None) -> int:
    async with open_product(settings) as product:
        await talk(product, conversation=conversation, space=space)
    return 0


async def talk(product: Product, *, conversation: str | None = None, space: str | None = None) -> None:
    """Until the person leaves."""
    talk = Talk(product, Console(highlight=False), space, conversation or secrets.token_hex(4))
    talk.greet()
    async for line in _lines(product.settings):
        if line == "/quit":
            return
        await talk.take(line)


@dataclass
class Talk:
    """One person, one terminal, one conversation at a time."""

    product: Product
    console: Console
    space: str | None
    conversation: str
    last: Answered | None = field(default=None)

    def greet(self) -> None:
        library = "[bold]crag[/] answers from your documents, and says where it read it."
        self.console.print(f"{library} [dim]/help shows what else there is; Ctrl-C stops an answer, Ctrl-D leaves.[/]")

    async def take(self, line: str) -> None:
        """What was typed: a command or a question."""
        match line:
            case "/new":
                self.conversation, self.last = secrets.token_hex(4), None
                self.console.print("[dim]A new conversation.[/]")
            case "/sources":
                self._sources()
            case "/trace":
                await self._trace()
            case _ if line.startswith("/"):
                self._help()
            case _:
                await self._answer(line)

    async def _answer(self, text: str) -> None:
        asked = question(text, conversation=self.conversation, space=self.space)
        display = Display(self.console)
        run = asyncio.ensure_future(self.product.answering.answer(asked, display.show))
        try:
            with display, _interruptible(run):
                self.last = await run
        except asyncio.CancelledError:
            display.end_line()
            self.console.print("[yellow]Stopped.[/]")
        except (QuestionError, AnswerFailedError) as error:
            display.end_line()
            self.console.print(Text(explained(error)[1], style="red"))
        else:
            display.end_line()
            print_answer(self.console, self.last, streamed=display.streamed)
            self.console.print()

    def _sources(self) -> None:
        citations = self.last.answer.citations if self.last else ()
        for citation in citations:
            print_citation(self.console, citation)
        if not citations:
            self.console.print("[dim]There are none yet.[/]")

    async def _trace(self) -> None:
        trace = await show_trace(self.product.database.engine, self.last.trace_id) if self.last else None
        if trace:
            print_trace(self.console, trace)
        else:
            self.console.print("[dim]Ask something first.[/]")

    def _help(self) -> None:
        for command, meaning in COMMANDS.items():
            self.console.print(f"  [bold]{command:<10}[/] {meaning}")


class Display:
    """The stage while the answer is made, then the answer as it comes."""

    def __init__(self, console: Console) -> None:
        self.streamed = False
        self._console = console
        self._status = Status(STAGES["contextualize"], console=console)
        self._line_open = False

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._status.stop()

    async def show(self, progress: Progress) -> None:
        if isinstance(progress, Stage):
            self._status.update(self._told(progress))
        elif isinstance(progress, TextDelta):
            self._status.stop()
            self._console.print(Text(progress.text), end="")
            self.streamed = self._line_open = True
        elif self.streamed:
            self.end_line()
            self._console.print("[yellow]Once more:[/]")
            self.streamed = False

    def end_line(self) -> None:
        if self._line_open:
            self._console.print()
        self._line_open = False

    def _told(self, stage: Stage) -> Text:
        """What happens now, and the verdict as soon as there is one."""
        told = Text(STAGES[stage.node])
        if stage.detail in set(Verdict):
            verdict = Verdict(stage.detail)
            return Text.assemble((verdict.value, COLOURS[verdict]), " · ", told)
        return told.append(f": {stage.detail}", style="dim") if stage.detail else told


@contextmanager
def _interruptible(run: "asyncio.Future[Answered]") -> Iterator[None]:
    """Ctrl-C stops the answer and not the program."""
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # Windows
        loop.add_signal_handler(signal.SIGINT, run.cancel)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)


async def _lines(settings: Settings) -> AsyncIterator[str]:
    """What the person types; or what is piped in, line by line."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if line.strip():
                yield line.strip()
        return
    file = settings.data_dir / "history"
    file.touch(mode=0o600)
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(file)), completer=WordCompleter(list(COMMANDS), sentence=True)
    )
    while True:
        try:
            line = (await session.prompt_async(HTML("<b>› </b>"))).strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if line:
            yield line
