import pytest

from crag_graph.services import WebBusyError, WebRejectedError
from crag_graph.websearch.searxng import SearxngSearch
from tests.fakes.searxng_server import SearxngServer
from tests.fakes.tavily_server import WebPage

PAGE = WebPage(url="https://pages.example/norms", title="Norms &amp; nets", content="R&amp;D says <b>so</b>.")


async def test_snippets_stand_for_pages_and_read_as_plain_text() -> None:
    async with SearxngServer(pages=[PAGE]).running() as server:
        web = SearxngSearch(f"{server.base_url}/")
        (page,) = await web.search("norms & nets", limit=5)
        await web.close()
    assert (page.title, page.text) == ("Norms & nets", "R&D says so.")
    assert server.queries == ["norms & nets"]


async def test_a_server_that_does_not_speak_json_says_what_to_set() -> None:
    async with SearxngServer(pages=[PAGE], formats=["html"]).running() as server:
        web = SearxngSearch(server.base_url)
        with pytest.raises(WebRejectedError, match="must list json"):
            await web.search("norms", limit=5)
        await web.close()


async def test_nobody_at_the_address_is_a_busy_web() -> None:
    web = SearxngSearch("http://127.0.0.1:9", seconds=1)
    with pytest.raises(WebBusyError, match="ConnectError"):
        await web.search("norms", limit=5)
    await web.close()


async def test_an_address_that_is_none_is_rejected() -> None:
    web = SearxngSearch("searx.example", seconds=1)
    with pytest.raises(WebRejectedError, match="address is wrong"):
        await web.search("norms", limit=5)
    await web.close()
