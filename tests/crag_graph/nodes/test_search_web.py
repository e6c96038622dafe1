from crag_graph.context import Policy
from crag_graph.domain import Abstention
from crag_graph.nodes.search_web import go_without_web, search_web
from tests.crag_graph.nodes.node_running import Alone
from tests.crag_graph.running import Cast
from tests.fakes.services import ScriptedWeb, page


async def test_as_many_pages_are_asked_for_as_the_policy_says() -> None:
    pages = [page(str(n), link=f"https://pages.example/{n}") for n in range(9)]
    alone = Alone(cast=Cast(web=ScriptedWeb(pages=pages)), policy=Policy(web_pages=2))
    assert (await search_web({"web_query": "norms"}, alone.runtime))["pages"] == tuple(pages[:2])
    assert alone.cast.web.queries == ["norms"]


async def test_without_the_web_there_are_no_pages_and_it_is_known_why() -> None:
    assert await go_without_web({}, Alone().runtime) == {"pages": (), "web_missing": Abstention.WEB_UNREACHABLE}
