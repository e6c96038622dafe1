import pytest

from crag_graph.domain import Abstention, Passage, Verdict
from crag_graph.nodes.evaluate import evaluate
from crag_graph.state import State
from tests.crag_graph.nodes.node_running import Alone
from tests.crag_graph.running import Cast
from tests.fakes.services import ScriptedEvaluator, ScriptedWeb, passage

LEAVE, TRAVEL = passage("Leave lasts twelve weeks."), passage("Flights are booked early.")


def asked(*passages: Passage) -> State:
    return {"standalone": "How long is leave?", "passages": passages}


@pytest.mark.parametrize(
    ("score", "verdict", "reason"),
    [
        (0.82, Verdict.CORRECT, "The library answers it: the best scores 0.82 (it says “Leave”); 0.70 is enough."),
        (
            0.41,
            Verdict.AMBIGUOUS,
            "The library answers it only in part: the best scores 0.41 (it says “Leave”); 0.70 would be enough.",
        ),
        (
            0.12,
            Verdict.INCORRECT,
            "No passage of the library helps: the best scores 0.12 (it says “Leave”); below 0.30 is of no use.",
        ),
    ],
)
async def test_a_verdict_comes_with_its_reason_in_plain_words(score: float, verdict: Verdict, reason: str) -> None:
    alone = Alone(cast=Cast(evaluator=ScriptedEvaluator(scores={"Leave": score})))
    update = await evaluate(asked(LEAVE, TRAVEL), alone.runtime)
    assert (update["verdict"], update["reason"]) == (verdict, reason)


async def test_nothing_retrieved_is_incorrect_and_says_so() -> None:
    update = await evaluate(asked(), Alone().runtime)
    assert (update["verdict"], update["reason"]) == (
        Verdict.INCORRECT,
        "The library has no passage for this question.",
    )


async def test_good_passages_are_those_that_reach_the_lower_threshold_and_none_under_incorrect() -> None:
    alone = Alone(cast=Cast(evaluator=ScriptedEvaluator(scores={"Leave": 0.9, "Flights": 0.3})))
    assert (await evaluate(asked(LEAVE, TRAVEL), alone.runtime))["good"] == (LEAVE, TRAVEL)
    alone.cast.evaluator.scores = {"Leave": 0.29, "Flights": 0.29}
    assert (await evaluate(asked(LEAVE, TRAVEL), alone.runtime))["good"] == ()


async def test_every_part_that_is_answered_makes_the_verdict_correct() -> None:
    parts = {"How long is leave?": {"Leave": 0.8}, "How are flights booked?": {"Flights": 0.75}}
    alone = Alone(cast=Cast(evaluator=ScriptedEvaluator(parts=parts)))
    update = await evaluate(asked(LEAVE, TRAVEL), alone.runtime)
    assert update["verdict"] is Verdict.CORRECT
    assert update["reason"].startswith("The library answers it in each part: “How long is leave?” 0.80")
    assert [score.value for score in update["scores"]] == [0.8, 0.75]


@pytest.mark.parametrize(
    ("score", "web", "allowed", "missing"),
    [
        (0.5, ScriptedWeb(), True, None),
        (0.5, ScriptedWeb(), False, Abstention.WEB_OFF),
        (0.5, ScriptedWeb(available=False), True, Abstention.WEB_OFF),
        (0.9, ScriptedWeb(available=False), True, None),
    ],
)
async def test_a_web_that_is_needed_and_off_is_noted(
    score: float, web: ScriptedWeb, *, allowed: bool, missing: Abstention | None
) -> None:
    alone = Alone(cast=Cast(evaluator=ScriptedEvaluator(scores={"Leave": score}), web=web))
    update = await evaluate({**asked(LEAVE), "web_allowed": allowed}, alone.runtime)
    assert update["web_missing"] is missing
