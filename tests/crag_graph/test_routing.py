import pytest

from crag_graph.domain import Abstention, Answer, JudgedStrip, Score, Strip, Verdict
from crag_graph.routing import after_evaluate, after_generate, after_refine
from tests.fakes.services import passage


@pytest.mark.parametrize(
    ("verdict", "web_missing", "goes_to"),
    [
        (Verdict.CORRECT, None, "refine"),
        (Verdict.AMBIGUOUS, None, "rewrite"),
        (Verdict.INCORRECT, None, "rewrite"),
        (Verdict.AMBIGUOUS, Abstention.WEB_OFF, "refine"),
        (Verdict.INCORRECT, Abstention.WEB_OFF, "refine"),
    ],
)
def test_the_web_is_asked_unless_the_library_is_enough_or_the_web_is_off(
    verdict: Verdict, web_missing: Abstention | None, goes_to: str
) -> None:
    assert after_evaluate({"verdict": verdict, "web_missing": web_missing}) == goes_to


@pytest.mark.parametrize(
    ("kept", "goes_to"), [((), "abstain"), ((False, False), "abstain"), ((False, True), "generate")]
)
def test_without_a_kept_strip_there_is_no_answer(kept: tuple[bool, ...], goes_to: str) -> None:
    strip = Strip(passage=passage("Leave is paid."), start=0, end=14)
    strips = tuple(JudgedStrip(strip=strip, score=Score(value=0.5, reason="so so"), kept=one) for one in kept)
    assert after_refine({"strips": strips}) == goes_to


def test_without_an_answer_of_the_writer_there_is_an_abstention() -> None:
    assert after_generate({}) == "abstain"
    answer = Answer(text="Leave is paid.", verdict=Verdict.CORRECT, reason="It says so.")
    assert after_generate({"answer": answer}) == "__end__"
