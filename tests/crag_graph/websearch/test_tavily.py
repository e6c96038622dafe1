from collections.abc import AsyncIterator

import pytest

from crag_graph.services import WebBusyError, WebRejectedError
from crag_graph.websearch.tavily import TavilySearch
from tests.fakes.tavily_server import KEY, Hang, Status, TavilyServer, WebPage, tavily_server

PAGE = WebPage(url="https://pages.example/norms", title="Norms", content="In short.", raw="At length.")


@pytest.fixture
async def server() -> AsyncIterator[TavilyServer]:
    async with tavily_server([PAGE]) as server:
        yield server


@pytest.fixture
async def web(server: TavilyServer) -> AsyncIterator[TavilySearch]:
    web = TavilySearch(KEY, base_url=server.base_url, seconds=0.3)
    yield web
    await web.close()


@pytest.mark.parametrize("key", ["", "  "])
def test_without_a_key_there_is_no_client_that_would_ask_as_a_guest(key: str) -> None:
    with pytest.raises(ValueError, match="Tavily needs a key"):
        TavilySearch(key)


async def test_the_whole_text_of_a_page_is_preferred_to_its_snippet(web: TavilySearch, server: TavilyServer) -> None:
    assert [page.text for page in await web.search("norms", limit=5)] == ["At length."]
    assert server.requests[0]["include_raw_content"] == "text"
    assert server.requests[0]["max_results"] == 5


async def test_a_page_that_could_not_be_read_counts_with_its_snippet(web: TavilySearch, server: TavilyServer) -> None:
    server.find = lambda _: [WebPage(url=PAGE.url, title=PAGE.title, content="In short.")]
    assert [page.text for page in await web.search("norms", limit=5)] == ["In short."]


async def test_a_query_that_is_too_long_is_rejected_not_retried(web: TavilySearch) -> None:
    with pytest.raises(WebRejectedError, match="400 characters"):
        await web.search("x" * 401, limit=5)


async def test_a_wrong_key_is_said_without_being_shown(server: TavilyServer) -> None:
    web = TavilySearch("tvly-wrong", base_url=server.base_url)
    with pytest.raises(WebRejectedError, match="invalid API key") as rejected:
        await web.search("norms", limit=5)
    assert "tvly-wrong" not in str(rejected.value)
    await web.close()


async def test_a_used_up_plan_is_said_in_its_own_words(web: TavilySearch, server: TavilyServer) -> None:
    server.trouble.append(Status(code=432, error="This request exceeds your plan's set usage limit."))
    with pytest.raises(WebRejectedError, match="usage limit"):
        await web.search("norms", limit=5)


async def test_a_hang_ends_when_its_time_is_over(web: TavilySearch, server: TavilyServer) -> None:
    server.trouble.append(Hang())
    with pytest.raises(WebBusyError, match=r"0\.3 s"):
        await web.search("norms", limit=5)


async def test_nobody_at_the_address_is_a_busy_web() -> None:
    web = TavilySearch(KEY, base_url="http://127.0.0.1:9", seconds=1)
    with pytest.raises(WebBusyError, match="ConnectError"):
        await web.search("norms", limit=5)
    await web.close()
