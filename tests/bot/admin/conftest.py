"""The pages on real traces: an admin's browser without a screen, signed in by a link."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from pathlib import Path

import httpx
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.admins import Admins
from bot.admin.application import mount
from bot.admin.desk import Desk
from bot.admin.links import Links
from bot.answering import Answering
from bot.experts.answers import Experts
from bot.prices import Price
from bot.server import build
from crag_graph.knowledge.fetch import Fetcher
from crag_graph.knowledge.index import prepare_index
from crag_graph.knowledge.ingest import Ingest
from crag_graph.knowledge.library import Library
from crag_graph.services import Services
from tests.bot.conftest import question, quietly
from tests.fakes.letters import LetterEmbedder
from tests.fakes.services import ScriptedWriter

ADMINS = Admins(named=frozenset({"U7", "U8"}))
ADDRESS = "http://bot.test"
Ask = Callable[..., Awaitable[str]]


@dataclass(frozen=True, kw_only=True)
class Browser:
    """What a person can do with a page, by the forms that it has."""

    client: httpx.AsyncClient

    async def opens(self, path: str) -> httpx.Response:
        return await self.client.get(path)

    async def submits(self, page: httpx.Response, action: str, **fields: str) -> httpx.Response:
        """The form of this page with this action, its hidden fields included."""
        assert f'action="{action}"' in page.text
        hidden = re.search(r'name="form_token" value="([^"]+)"', page.text)
        token = {"form_token": unescape(hidden[1])} if hidden else {}
        return await self.client.post(action, data=token | fields, headers={"origin": ADDRESS})


@pytest.fixture
def writer(services: Services) -> ScriptedWriter:
    assert isinstance(services.writer, ScriptedWriter)
    return services.writer


@pytest.fixture
async def desk(engine: AsyncEngine, answering: Answering, tmp_path: Path) -> Desk:
    embedder = LetterEmbedder()
    await prepare_index(engine, model=embedder.name, dimensions=embedder.dimensions)
    library = Library(engine, model=embedder.name)
    ingest = Ingest(library=library, embedder=embedder, fetcher=Fetcher())
    return Desk(
        engine=engine,
        admins=ADMINS,
        answering=answering,
        embedder=embedder,
        ingest=ingest,
        experts=Experts(engine=engine, ingest=ingest, review_after=timedelta(days=90)),
        links=Links(engine, ADMINS, address=ADDRESS),
        prices={"scripted": Price(prompt=1.0, completion=2.0)},
    )


@pytest.fixture
async def stranger(desk: Desk) -> AsyncIterator[Browser]:
    """Somebody who is not signed in."""
    async with browser(desk) as opened:
        yield opened


@pytest.fixture
async def admin(desk: Desk) -> AsyncIterator[Browser]:
    """U7 of T1, signed in."""
    async with browser(desk) as opened:
        await sign_in(opened, desk)
        yield opened


class browser:  # noqa: N801 - used like a function
    """Keeps cookies, follows redirects."""

    def __init__(self, desk: Desk) -> None:
        transport = httpx.ASGITransport(app=build(desk.engine, [mount(desk)]), raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url=ADDRESS, follow_redirects=True)

    async def __aenter__(self) -> Browser:
        return Browser(client=await self._client.__aenter__())

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()


async def sign_in(browser: Browser, desk: Desk, *, team: str = "T1", person: str = "U7") -> httpx.Response:
    link = await desk.links.make_for(team, person)
    assert link
    await browser.opens(link)
    return await browser.client.post(link, headers={"origin": ADDRESS})


@pytest.fixture
def ask(answering: Answering) -> Ask:
    """A question that is really answered; its trace's id."""

    async def ask(text: str = "How long is parental leave?", *, conversation: str = "T1:C1:1") -> str:
        return (await answering.answer(question(text, conversation=conversation), quietly)).trace_id

    return ask
