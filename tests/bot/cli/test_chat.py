import asyncio
import io
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from rich.console import Console

from bot.cli.chat import Display, Talk
from bot.cli.ingest import take_in
from bot.settings import Settings
from bot.wiring import Product, open_product
from crag_graph.domain import Stage, TextDelta, TextRestart

QUESTION = "How many days of parental leave does a parent get?"


@pytest.fixture
async def product(settings: Settings, handbook: Path) -> AsyncIterator[Product]:
    async with open_product(settings) as opened:
        await take_in(opened, [str(handbook)], console=Console(quiet=True))
        yield opened


@pytest.fixture
def talk(product: Product) -> Talk:
    return Talk(product, Console(file=io.StringIO(), width=200), None, "c1")


def shown(talk: Talk) -> str:
    assert isinstance(talk.console.file, io.StringIO)
    return talk.console.file.getvalue()


async def test_a_person_asks_looks_at_the_sources_and_the_trace_and_begins_anew(talk: Talk) -> None:
    await talk.take("/sources")
    await talk.take("/trace")
    assert "There are none yet." in shown(talk)
    assert "Ask something first." in shown(talk)
    await talk.take(QUESTION)
    assert "80 days" in shown(talk)
    await talk.take("And how is it paid?")
    assert talk.last
    assert "leave" in talk.last.standalone
    await talk.take("/trace")
    assert "retrieve" in shown(talk)
    await talk.take("/new")
    await talk.take("And how is it paid?")
    assert "leave" not in talk.last.standalone


async def test_an_unknown_command_and_a_bad_question_are_answered_with_help(talk: Talk) -> None:
    await talk.take("/halp")
    assert "/quit" in shown(talk)
    await talk.take("x" * 40_000)
    assert "fewer than 40,000" in shown(talk)


async def test_ctrl_c_stops_the_answer_and_not_the_program(talk: Talk) -> None:
    answer = asyncio.create_task(talk.take(QUESTION))
    await asyncio.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
    await answer
    assert "Stopped." in shown(talk)
    await talk.take(QUESTION)
    assert "80 days" in shown(talk)


async def test_the_display_tells_the_stage_the_verdict_and_a_new_start() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with Display(console) as display:
        await display.show(Stage(node="search_web", detail="keywords"))
        await display.show(Stage(node="refine", detail="ambiguous"))
        await asyncio.sleep(0.2)
        await display.show(TextDelta(text="Half of"))
        await display.show(TextRestart())
        await display.show(TextDelta(text="The whole answer."))
    assert isinstance(console.file, io.StringIO)
    told = console.file.getvalue()
    for part in ("ambiguous", "Keeping what helps", "Half of", "Once more", "The whole answer."):
        assert part in told
