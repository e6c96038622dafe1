"""A worker in a process of its own, to be killed: the real queue, inbox, graph and delivery around slow services."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bot import logs
from bot.answering import Answering
from bot.channels.store import Channels
from bot.database.engine import JOBS_SCHEMA, MEMORY_SCHEMA, open_engine, with_schema
from bot.erasing.eraser import Eraser
from bot.inbox import Inbox
from bot.jobs import Tasks, open_queue
from bot.memory import open_postgres
from bot.slack.directory import Directory
from bot.slack.documents.files import Files
from bot.slack.documents.reading import Reader
from bot.slack.replies.answers import Answers
from bot.slack.replies.asked import Asking
from bot.slack.replies.forgetting import Forgetting
from bot.slack.replies.home import Home
from bot.slack.replies.inquiry import Inquiry
from bot.slack.replies.pace import Pace
from bot.slack.replies.relay import Relay
from bot.slack.replies.second_thoughts import SecondThoughts
from bot.slack.replies.treasurer import Treasurer
from bot.slack.start import introduce
from bot.slack.web import open_web
from bot.traces.recorder import Recorder
from crag_graph.context import Policy
from crag_graph.embedding import Vectors
from crag_graph.knowledge.attached import Attached
from crag_graph.knowledge.fetch import Fetcher
from crag_graph.knowledge.ingest import Ingest
from crag_graph.knowledge.library import Library
from crag_graph.knowledge.search import HybridSearch
from crag_graph.services import Brief, Draft, Services
from tests.fakes.services import ScriptedEvaluator, ScriptedLibrary, ScriptedWeb, ScriptedWriter, passage
from tests.scenarios.slack.bot import LetterEmbedder

WORDS = [f"word{number}" for number in range(24)]
ANSWER = f"Sixteen weeks: {' '.join(WORDS)} [1]."
LEAVE = passage("Parents get 16 weeks of leave.", title="Leave", link="https://handbook.test/leave")


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a worker needs to know; plain values that go to another process."""

    database_url: str
    api_url: str
    bot_token: str
    folder: str
    seconds: float
    """For the writing of an answer."""
    streams: bool
    at_once: int = 1
    embeds: float = 0.0
    """Seconds for the embedding of a batch; with files, the library is the real one."""


@dataclass(kw_only=True)
class SlowWriter(ScriptedWriter):
    """Writes word by word."""

    seconds: float = 0.0

    async def generate(self, brief: Brief, emit: Callable[[str], None]) -> Draft:
        pieces = [f"{piece} " for piece in ANSWER.split()]
        for piece in pieces:
            emit(piece)
            await asyncio.sleep(self.seconds / len(pieces))
        return Draft(text=ANSWER)


@dataclass(kw_only=True)
class SlowEmbedder(LetterEmbedder):
    seconds: float

    async def embed(self, texts: Any) -> Vectors:
        await asyncio.sleep(self.seconds)
        return await super().embed(texts)


def run(orders: Orders) -> None:
    """The main function of the process."""
    logs.configure("error")
    asyncio.run(work(orders))


async def work(orders: Orders) -> None:
    engine = open_engine(orders.database_url, pool_size=3)
    embedder = SlowEmbedder(seconds=orders.embeds)
    services = Services(
        library=HybridSearch(engine, embedder) if orders.embeds else ScriptedLibrary(spaces={"workspace": [LEAVE]}),
        evaluator=ScriptedEvaluator(scores={"weeks": 0.9}),
        writer=SlowWriter(seconds=orders.seconds),
        web=ScriptedWeb(),
    )
    folder = Path(orders.folder)
    async with (
        open_web(orders.api_url, orders.bot_token) as web,
        open_queue(with_schema(orders.database_url, JOBS_SCHEMA), pool_size=3) as queue,
        open_postgres(with_schema(orders.database_url, MEMORY_SCHEMA), locks=folder / "locks", connections=1) as memory,
    ):
        answering = Answering(
            services=services,
            policy=Policy(),
            memory=memory,
            recorder=Recorder(engine, keep_texts=False, settings="killed", version="1"),
            today=lambda: date(2026, 11, 30),
        )
        inbox = Inbox(engine)
        me, directory = await introduce(web), Directory(web)
        home = Home(me=me, web=web, engine=engine, directory=directory)
        attached = Attached(engine=engine)
        ingest = Ingest(library=Library(engine, model=embedder.name), embedder=embedder, fetcher=Fetcher())
        files = Files(web, token=orders.bot_token, api_url=orders.api_url)
        reader = Reader(inbox=inbox, ingest=ingest, files=files, attached=attached)
        pace = Pace(patience=0.05 if orders.streams else 60.0, append_every=0.05)
        answers = Answers(
            me=me,
            web=web,
            inbox=inbox,
            answering=answering,
            channels=Channels(engine),
            inquiry=Inquiry(me=me, web=web, inbox=inbox, directory=directory, attached=attached),
            reader=reader,
            attached=attached,
            asking=Asking(engine=engine, me=me, web=web, directory=directory),
            pace=pace,
            treasurer=Treasurer(budget=None, web=web, directory=directory, admins=frozenset()),
            relay=Relay(me=me, web=web, inbox=inbox, engine=engine, channels=Channels(engine), directory=directory),
            second_thoughts=SecondThoughts(me=me, web=web, inbox=inbox, pace=pace),
            forgetting=Forgetting(
                web=web,
                inbox=inbox,
                forget=answering.forget,
                home=home,
                erase=Eraser(engine, [memory], disown=nobodys).erase_person,
            ),
        )

        async def answer(conversation: str) -> None:
            while (claim := await inbox.claim(conversation)) and await answers.handle(claim):
                pass

        await queue.work(Tasks(answer=answer, ingest=_nothing, tidy=_tidy), at_once=orders.at_once)


async def nobodys(_person: str, *, team: str | None) -> int:
    """There are no experts."""
    return 0


async def _nothing(subject: str) -> None:
    pass


async def _tidy() -> None:
    pass
