import pytest

from crag_graph.nodes.rewrite import rewrite, shortened
from tests.crag_graph.nodes.node_running import Alone
from tests.crag_graph.running import TODAY, Cast, turn
from tests.fakes.services import ScriptedWriter


async def test_rewriting_knows_the_conversation_and_the_day() -> None:
    alone = Alone(cast=Cast(writer=ScriptedWriter(web_query="AI news June 2026")))
    talk = turn("What is AI?", "Machines that learn.")
    update = await rewrite(
        {"question": "News?", "standalone": "What is the news on AI?", "turns": [talk]}, alone.runtime
    )
    assert update["web_query"] == "AI news June 2026"
    ((standalone, conversation, today),) = alone.cast.writer.rewritten
    assert (standalone, conversation.turns, today) == ("What is the news on AI?", (talk,), TODAY)


@pytest.mark.parametrize(
    ("query", "short"),
    [
        ("  AI \n news ", "AI news"),
        ("a" * 400, "a" * 400),
        ("a" * 401, "a" * 400),
        ("a" * 399 + " b", "a" * 399),
        ("a" * 398 + " b", "a" * 398 + " b"),
        ("", ""),
    ],
)
def test_a_query_is_one_line_of_at_most_400_characters(query: str, short: str) -> None:
    assert shortened(query) == short
