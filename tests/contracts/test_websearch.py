"""What every web search keeps to, whoever answers it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

import pytest

from crag_graph.domain import Kind
from crag_graph.services import WebBusyError, WebRejectedError, WebSearch
from crag_graph.websearch.none import NoWeb
from crag_graph.websearch.searxng import SearxngSearch
from crag_graph.websearch.tavily import TavilySearch
from tests.fakes.searxng_server import SearxngServer
from tests.fakes.services import ScriptedWeb, page, trouble
from tests.fakes.tavily_server import KEY, Hang, Raw, Status, Trouble, WebPage, tavily_server

PAGES = [
    WebPage(url=f"https://pages.example/{n}", title=f"Page {n}", content=f"What page {n} says.", raw=f"All of {n}.")
    for n in range(1, 9)
]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A web search, and how to make its next request meet trouble."""

    web: WebSearch
    meet: Callable[[Trouble], None]


async def _tavily(stack: AsyncExitStack) -> Subject:
    server = await stack.enter_async_context(tavily_server(PAGES))
    web = TavilySearch(KEY, base_url=server.base_url, seconds=0.3)
    stack.push_async_callback(web.close)
    return Subject(web=web, meet=server.trouble.append)


async def _searxng(stack: AsyncExitStack) -> Subject:
    server = await stack.enter_async_context(SearxngServer(pages=PAGES).running())
    web = SearxngSearch(server.base_url, seconds=0.3)
    stack.push_async_callback(web.close)
    return Subject(web=web, meet=server.trouble.append)


async def _scripted(_: AsyncExitStack) -> Subject:
    web = ScriptedWeb(pages=[page(one.content, title=one.title, link=one.url) for one in PAGES], trouble=trouble())
    waiting = web.trouble.ahead.setdefault("search", [])

    def meet(trouble: Trouble) -> None:
        rejected = isinstance(trouble, Status) and trouble.code < 500 and trouble.code != 429
        waiting.append(WebRejectedError() if rejected else WebBusyError())

    return Subject(web=web, meet=meet)


Make = Callable[[AsyncExitStack], Awaitable[Subject]]


@pytest.fixture(params=[_tavily, _searxng, _scripted], ids=["tavily", "searxng", "scripted"])
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Subject]:
    make: Make = request.param
    async with AsyncExitStack() as stack:
        yield await make(stack)


async def test_pages_come_with_their_address_and_title(subject: Subject) -> None:
    pages = await subject.web.search("layer normalisation", limit=3)
    assert [page.title for page in pages] == ["Page 1", "Page 2", "Page 3"]
    assert {page.kind for page in pages} == {Kind.WEB}
    assert all(page.link == page.source == page.document for page in pages)
    assert all(page.text for page in pages)
    assert len({page.id for page in pages}) == 3


async def test_a_query_of_400_characters_is_taken(subject: Subject) -> None:
    assert await subject.web.search("word " * 79 + "words", limit=1)


async def test_many_questions_at_once_share_one_client(subject: Subject) -> None:
    found = await asyncio.gather(*(subject.web.search(f"question {n}", limit=2) for n in range(24)))
    assert [len(pages) for pages in found] == [2] * 24


@pytest.mark.parametrize("code", [429, 500, 502, 503])
async def test_a_web_that_is_busy_may_be_asked_again(subject: Subject, code: int) -> None:
    subject.meet(Status(code=code))
    with pytest.raises(WebBusyError) as busy:
        await subject.web.search("layer normalisation", limit=3)
    assert busy.value.transient
    assert await subject.web.search("layer normalisation", limit=3)


@pytest.mark.parametrize("code", [400, 401, 403, 432, 433])
async def test_a_web_that_rejects_the_request_is_not_asked_again(subject: Subject, code: int) -> None:
    subject.meet(Status(code=code))
    with pytest.raises(WebRejectedError) as rejected:
        await subject.web.search("layer normalisation", limit=3)
    assert not rejected.value.transient


@pytest.mark.parametrize("trouble", [Hang(), Raw(body="<html>"), Raw(body="[]"), Raw(body="", code=204)])
async def test_a_web_that_hangs_or_talks_nonsense_gives_no_pages(subject: Subject, trouble: Trouble) -> None:
    subject.meet(trouble)
    with suppress(WebBusyError, WebRejectedError):
        assert await subject.web.search("layer normalisation", limit=3) == ()


async def test_where_no_web_is_set_up_it_says_so_and_finds_nothing() -> None:
    web: WebSearch = NoWeb()
    assert not web.available
    assert await web.search("anything", limit=5) == ()
