"""The bot in a scenario: real Bolt, queue, database, memory and graph around scripted services."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.applications import Starlette

from bot.answering import Answering
from bot.budget.budget import Budget
from bot.channels.store import Channels
from bot.database.engine import JOBS_SCHEMA, open_engine, with_schema
from bot.erasing.eraser import Eraser
from bot.experts.answers import Experts
from bot.inbox import Inbox, Place
from bot.jobs import Queue, Tasks, open_queue
from bot.memory import open_sqlite
from bot.slack.incoming import Manners
from bot.slack.installing.pages import OAuth
from bot.slack.replies.pace import Pace
from bot.slack.service import Installation, Slack, Uses, open_slack
from bot.traces.recorder import Recorder
from crag_graph.context import Policy
from crag_graph.embedding import Embedder, Vectors
from crag_graph.knowledge.attached import Attached
from crag_graph.knowledge.fetch import Fetcher
from crag_graph.knowledge.index import prepare_index
from crag_graph.knowledge.ingest import Ingest
from crag_graph.knowledge.library import Library
from crag_graph.services import Services
from tests.fakes.services import ScriptedEvaluator, ScriptedLibrary, ScriptedWeb, ScriptedWriter, passage
from tests.slack_workspace import Message, Person, SlackWorkspace
from tests.slack_workspace.world import Conversation

LEAVE = passage(
    "Parents get 16 weeks of leave. Adoption counts the same.", title="Leave", link="https://handbook.test/leave"
)


BUTTONS = ("How I got here", "Search the web too", "Ask again", "Helpful", "Not helpful")
"""What stands under an answer from the library where the web could be asked, too."""


class LetterEmbedder:
    """Unit vectors of letter counts: enough to store and find documents by."""

    name = "letters"
    dimensions = 26

    async def embed(self, texts: Any) -> Vectors:
        counts = np.array([[text.lower().count(chr(97 + n)) + 0.01 for n in range(26)] for text in texts], np.float32)
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), np.float32)


def scripted(**parts: Any) -> Services:
    """Services that find the handbook's leave in the workspace's space and quote it."""
    plain: dict[str, Any] = {
        "library": ScriptedLibrary(spaces={"workspace": [LEAVE]}),
        "evaluator": ScriptedEvaluator(scores={"weeks": 0.9}),
        "writer": ScriptedWriter(),
        "web": ScriptedWeb(),
    }
    return Services(**{**plain, **parts})


@dataclass(kw_only=True)
class Options:
    """How the bot of a scenario is set up. `http`: signed HTTP instead of Socket Mode."""

    http: bool = False
    oauth: bool = False
    """Every team installs the app, by HTTP."""
    works: bool = True
    at_once: int = 8
    pool_size: int = 12
    deadline: float = 60.0
    admins: frozenset[str] = frozenset()
    manners: Manners = field(default_factory=Manners)
    limits: dict[str, int] = field(default_factory=dict)
    tokens: float = 0.0
    """Of models, in a day and team; 0 is no bound."""
    frugal: Services | None = None
    embedder: Embedder = field(default_factory=LetterEmbedder)
    pace: Pace = field(default_factory=lambda: Pace(patience=0.05, append_every=0.05, edit_every=0.1, again_after=0.3))
    silent: float = 30.0
    fetch_allow: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A workspace with Ada in #travel, and a database for the bot; `bot` starts one."""

    slack: SlackWorkspace
    ada: Person
    travel: Conversation
    database_url: str
    folder: Path

    def bot(
        self, services: Services | None = None, options: "Options | None" = None
    ) -> AbstractAsyncContextManager["Bot"]:
        return running_bot(self.slack, self.database_url, self.folder, services=services, options=options)

    def joins(self, name: str, **what: Any) -> Person:
        """Somebody else comes into #travel."""
        person = self.slack.user(name, **what)
        self.travel.members.append(person.id)
        return person

    async def asks(self, text: str, *, in_: Conversation | Message | None = None, by: Person | None = None) -> Message:
        """A question of Ada's (or `by` somebody) in #travel (or `in_` a place or thread), and its finished answer."""
        question = await (by or self.ada).says(text, in_=in_ or self.travel)
        return await self.slack.reply_to(question)


@dataclass(kw_only=True)
class Bot:
    """A running bot."""

    slack: Slack
    queue: Queue
    inbox: Inbox
    channels: Channels
    library: Library
    ingest: Ingest
    services: Services
    experts: Experts
    engine: AsyncEngine
    answering: Answering
    eraser: Eraser
    address: str = ""
    """Where browsers reach it."""


async def done(bot: Bot, question: Message) -> None:
    """Wait until nothing is left to do for it: before that, an edit has its answer made again."""
    place = Place(team=question.author.team.id, channel=question.channel.id, ts=question.ts, person=question.author.id)
    async with asyncio.timeout(10):
        while not ((asked := await bot.inbox.concerned(place)) and asked.done):  # noqa: ASYNC110 - a database raises no event
            await asyncio.sleep(0.02)


@dataclass(frozen=True, kw_only=True)
class Address:
    """How to reach a local Slack; plain values, fit for another process."""

    api_url: str
    bot_token: str
    app_token: str
    signing_secret: str
    client_id: str = ""
    client_secret: str = ""
    public: str = ""
    """Where browsers reach the bot."""

    @classmethod
    def of(cls, workspace: SlackWorkspace, *, public: str = "") -> "Address":
        return cls(
            api_url=workspace.api_url,
            bot_token=workspace.bot_token,
            app_token=workspace.app_token,
            signing_secret=workspace.signing_secret,
            client_id=workspace.app.client_id,
            client_secret=workspace.app.client_secret,
            public=public,
        )


@asynccontextmanager
async def running_bot(
    workspace: SlackWorkspace,
    database_url: str,
    folder: Path,
    *,
    services: Services | None = None,
    options: Options | None = None,
) -> AsyncIterator[Bot]:
    """The bot, connected and working, until the context ends."""
    chosen, used = options or Options(), services or scripted()
    async with AsyncExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        public = f"http://127.0.0.1:{listening.getsockname()[1]}"
        address = Address.of(workspace, public=public)
        opened = open_bot(address, database_url, folder, services=used, options=chosen)
        bot = await stack.enter_async_context(opened)
        bot.address = public
        if bot.slack.sockets:
            async with _group() as group:
                group.append(asyncio.create_task(bot.slack.sockets.listen()))
                await workspace.connected()
                yield bot
        else:
            async with served(bot.slack, listening) as url:
                workspace.deliver_to(url)
                yield bot


@asynccontextmanager
async def open_bot(
    address: Address, database_url: str, folder: Path, *, services: Services, options: Options
) -> AsyncIterator[Bot]:
    """The bot and its worker; nothing reaches it yet."""
    async with AsyncExitStack() as stack:
        engine = open_engine(database_url, pool_size=options.pool_size)
        stack.push_async_callback(engine.dispose)
        embedder = options.embedder
        await prepare_index(engine, model=embedder.name, dimensions=embedder.dimensions)
        memory = await stack.enter_async_context(open_sqlite(folder / "memory.sqlite", locks=folder / "locks"))
        queue = await stack.enter_async_context(open_queue(with_schema(database_url, JOBS_SCHEMA)))
        library = Library(engine, model=embedder.name)
        ingest = Ingest(library=library, embedder=embedder, fetcher=Fetcher(allowed_hosts=options.fetch_allow))
        budget = Budget(engine=engine, tokens=options.tokens)
        answering = Answering(
            services=services,
            policy=Policy(deadline=options.deadline),
            memory=memory,
            recorder=Recorder(engine, keep_texts=False, settings="scenario", version="1"),
            today=lambda: date(2026, 11, 30),
            frugal=options.frugal,
            budget=budget,
            attached=Attached(engine=engine),
        )
        inbox = Inbox(engine)
        experts = Experts(engine=engine, ingest=ingest, review_after=timedelta(days=90))
        eraser = Eraser(engine, [memory], disown=experts.disown)
        uses = Uses(
            engine=engine,
            inbox=inbox,
            queue=queue,
            answering=answering,
            library=library,
            ingest=ingest,
            erase=eraser.erase_person,
            experts=experts,
            budget=budget,
        )
        slack = await stack.enter_async_context(open_slack(_installation(address, options), uses, pace=options.pace))
        group = await stack.enter_async_context(_group())
        if options.works:
            tasks = Tasks(answer=slack.working.answer, ingest=slack.working.ingest, tidy=_nothing)
            group.append(asyncio.create_task(queue.work(tasks, at_once=options.at_once)))
        yield Bot(
            slack=slack,
            queue=queue,
            inbox=inbox,
            channels=Channels(engine, options.manners.settings),
            library=library,
            ingest=ingest,
            services=services,
            experts=experts,
            engine=engine,
            answering=answering,
            eraser=eraser,
        )


def _installation(address: Address, options: Options) -> Installation:
    oauth = OAuth(client_id=address.client_id, client_secret=address.client_secret, address=address.public)
    http = options.http or options.oauth
    return Installation(
        api_url=address.api_url,
        bot_token="" if options.oauth else address.bot_token,
        oauth=oauth if options.oauth else None,
        app_token="" if http else address.app_token,
        signing_secret=address.signing_secret if http else "",
        admins=options.admins,
        manners=options.manners,
        limits=options.limits,
        silent=options.silent,
    )


@asynccontextmanager
async def _group() -> AsyncIterator[list[asyncio.Task[None]]]:
    tasks: list[asyncio.Task[None]] = []
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def served(slack: Slack, listening: socket.socket | None = None) -> AsyncIterator[str]:
    """The routes on a real server, on a socket that is there or a new one; gives the request URL."""
    listening = listening or socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(Starlette(routes=slack.routes), log_level="error", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    port = listening.getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/slack/events"
    finally:
        server.should_exit = True
        await serving


async def _nothing() -> None:
    pass
