import pytest

from crag_graph.domain import Abstention, TextDelta, Verdict
from crag_graph.nodes.abstain import TEXTS, abstain
from crag_graph.services import LibraryError
from crag_graph.state import State
from tests.crag_graph.nodes.node_running import Alone
from tests.crag_graph.running import Cast
from tests.fakes.services import ScriptedEvaluator, page, passage, trouble

FOUND: State = {
    "question": "Q?",
    "standalone": "Q?",
    "verdict": Verdict.INCORRECT,
    "reason": "Nothing helps.",
    "passages": (),
    "strips": (),
}


@pytest.mark.parametrize(
    ("more", "abstention"),
    [
        ({}, Abstention.NOTHING_FOUND),
        ({"passages": (passage("Far off."),)}, Abstention.TOO_WEAK),
        ({"pages": (page("Far off."),)}, Abstention.TOO_WEAK),
        ({"web_missing": Abstention.WEB_OFF, "passages": (passage("Far off."),)}, Abstention.WEB_OFF),
        ({"web_missing": Abstention.WEB_UNREACHABLE}, Abstention.WEB_UNREACHABLE),
    ],
)
async def test_an_abstention_says_why_and_what_to_do(more: State, abstention: Abstention) -> None:
    alone = Alone()
    update = await abstain({**FOUND, **more}, alone.runtime)
    assert update["answer"].abstention is abstention
    assert update["answer"].text == TEXTS[abstention]
    assert update["answer"].reason == "Nothing helps."
    assert alone.progress == [TextDelta(text=TEXTS[abstention])]
    assert update["turns"][-1]["answer"] == TEXTS[abstention]


@pytest.mark.parametrize(("score", "seen"), [(0.7, True), (0.69, False)])
async def test_a_good_passage_elsewhere_is_spoken_of_but_not_shown(score: float, *, seen: bool) -> None:
    cast = Cast(hidden=[passage("The plan is secret.")], evaluator=ScriptedEvaluator(scores={"plan": score}))
    update = await abstain({**FOUND, "elsewhere": ("hidden",)}, Alone(cast=cast).runtime)
    assert (update["answer"].abstention is Abstention.NOT_VISIBLE_HERE) is seen
    assert "secret" not in str(update)


async def test_a_library_that_fails_elsewhere_leaves_a_fault_and_the_other_reason() -> None:
    cast = Cast()
    cast.library.trouble = trouble(search=[LibraryError("away")])
    update = await abstain({**FOUND, "elsewhere": ("hidden",)}, Alone(cast=cast).runtime)
    assert update["answer"].abstention is Abstention.NOTHING_FOUND
    assert [fault.where for fault in update["faults"]] == ["abstain"]
