import pytest

from crag_graph.domain import Abstention, Fault, JudgedStrip, Score, Strip, TextDelta, Verdict
from crag_graph.nodes.abstain import MODEL_AWAY, OF_FILES, TEXTS, abstain
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
    assert update["answer"].text == TEXTS[abstention]()
    assert update["answer"].reason == "Nothing helps."
    assert alone.progress == [TextDelta(text=TEXTS[abstention]())]
    assert update["turns"][-1]["answer"] == TEXTS[abstention]()


def kept(title: str, value: float) -> JudgedStrip:
    strip = Strip(passage=passage("Far off.", title=title), start=0, end=8)
    return JudgedStrip(strip=strip, score=Score(value=value, reason="so so"), kept=True)


async def test_the_nearest_of_what_was_kept_is_named() -> None:
    found: State = {
        **FOUND,
        "passages": (passage("Far off."),),
        "strips": (kept("Maps", 0.2), kept("Sea\ncharts", 0.5)),
    }
    update = await abstain(found, Alone().runtime)
    assert update["answer"].text == f"{TEXTS[Abstention.TOO_WEAK]()} The nearest that I found is “Sea charts”."
    assert update["answer"].citations == ()


async def test_a_nearest_document_without_a_title_is_not_named() -> None:
    found: State = {**FOUND, "passages": (passage("Far off."),), "strips": (kept(" ", 0.5),)}
    assert (await abstain(found, Alone().runtime))["answer"].text == TEXTS[Abstention.TOO_WEAK]()


async def test_where_the_language_model_was_away_the_abstention_says_so() -> None:
    found: State = {**FOUND, "faults": (Fault(where="generate", kind="ModelBusyError", message="busy"),)}
    assert (await abstain(found, Alone().runtime))["answer"].notice == MODEL_AWAY()


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


@pytest.mark.parametrize("missing", list(OF_FILES))
async def test_files_that_do_not_answer_are_not_called_the_library(missing: Abstention) -> None:
    update = await abstain({**FOUND, "files_alone": True, "web_missing": missing}, Alone().runtime)
    assert update["answer"].text == OF_FILES[missing]()
    assert update["answer"].abstention is missing


async def test_what_the_web_did_not_know_either_is_said_as_always() -> None:
    update = await abstain({**FOUND, "files_alone": True}, Alone().runtime)
    assert update["answer"].text == TEXTS[Abstention.NOTHING_FOUND]()
