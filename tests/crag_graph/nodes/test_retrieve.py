from crag_graph.context import Policy
from crag_graph.domain import Fault
from crag_graph.nodes.retrieve import retrieve
from tests.crag_graph.nodes.node_running import Alone
from tests.crag_graph.running import Cast
from tests.fakes.services import passage


async def test_the_standalone_question_is_searched_in_the_spaces_of_this_place() -> None:
    here, hidden = passage("Here."), passage("Hidden.")
    alone = Alone(cast=Cast(passages=[here], hidden=[hidden]))
    update = await retrieve({"standalone": "How long is leave?", "spaces": ("home",)}, alone.runtime)
    assert update["passages"] == (here,)
    assert alone.cast.library.queries == ["How long is leave?"]


async def test_no_more_passages_come_than_the_policy_asks_for() -> None:
    alone = Alone(cast=Cast(passages=[passage(str(n)) for n in range(9)]), policy=Policy(top_k=3))
    update = await retrieve({"standalone": "q", "spaces": ("home",)}, alone.runtime)
    assert len(update["passages"]) == 3


async def test_what_the_library_worked_around_is_passed_on() -> None:
    alone = Alone()
    alone.cast.library.faults = (Fault(where="retrieve", kind="ModelBusyError", message="full text alone"),)
    update = await retrieve({"standalone": "q", "spaces": ("home",)}, alone.runtime)
    assert update["faults"] == alone.cast.library.faults
