"""`crag ask`: one question, or a file of them, answered and printed."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress as Bar

from bot.answering import Answering
from bot.cli.asking import question
from bot.cli.batch import LineError, read_line
from bot.cli.errors import UseError
from bot.cli.printing import STAGES, as_json, line, print_answer
from bot.questions import AnswerFailedError, QuestionError, check
from bot.settings import Settings
from bot.wiring import open_product
from crag_graph.domain import Progress, Stage


async def ask(
    settings: Settings,
    text: str | None,
    *,
    conversation: str | None,
    space: str | None,
    file: Path | None,
    as_json: bool,
) -> int:
    if (text is None) == (file is None):
        raise UseError('Give one question, or --file: crag ask "How many days of leave do I get?"')
    if file is not None:
        return await ask_file(settings, file, conversation=conversation, space=space)
    check(text or "")
    async with open_product(settings) as product:
        await ask_once(product.answering, text or "", conversation=conversation, space=space, json=as_json)
    return 0


async def ask_once(
    answering: Answering, text: str, *, conversation: str | None = None, space: str | None = None, json: bool = False
) -> None:
    """Prints the answer; meanwhile the stage shows on standard error, where that is a terminal."""
    with Console(stderr=True).status(STAGES["contextualize"]) as status:

        async def show(progress: Progress) -> None:
            if isinstance(progress, Stage):
                status.update(STAGES[progress.node])

        answered = await answering.answer(question(text, conversation=conversation, space=space), show)
    if json:
        print(line(as_json(answered)))
    else:
        print_answer(Console(highlight=False), answered)


async def ask_file(settings: Settings, file: Path, *, conversation: str | None, space: str | None) -> int:
    """One object a line in, one a line out, in the same order; 1 where a question could not be answered."""
    lines = _lines(file)
    failed = False
    async with open_product(settings) as product:
        with Bar(console=Console(stderr=True), transient=True) as bar:
            for number, raw in enumerate(bar.track(lines, description="Questions"), 1):
                result = await _answered(product.answering, raw, conversation=conversation, space=space)
                failed = failed or "error" in result
                print(line(result if "error" not in result else {"line": number, **result}), flush=True)
    return int(failed)


async def _answered(answering: Answering, raw: bytes, *, conversation: str | None, space: str | None) -> dict[str, Any]:
    try:
        asked = read_line(raw)
        to_answer = question(
            asked.question,
            conversation=asked.conversation or (conversation if asked.history is None else None),
            space=asked.space or space,
            history=asked.history,
        )
        return as_json(await answering.answer(to_answer, _quietly))
    except (LineError, QuestionError) as error:
        return {"error": str(error)}
    except AnswerFailedError as error:
        return {"error": str(error), "trace_id": error.trace_id}


async def _quietly(_progress: Progress) -> None:
    """The bar shows how far we are."""


def _lines(file: Path) -> list[bytes]:
    raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    return list(_filled(raw))


def _filled(raw: bytes) -> Iterator[bytes]:
    return (part for part in raw.split(b"\n") if part.strip())
