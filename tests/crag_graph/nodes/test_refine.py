from collections.abc import Sequence

import pytest

from crag_graph.context import Policy
from crag_graph.domain import Score, Strip
from crag_graph.nodes.refine import refine
from crag_graph.services import Filtering, ModelReplyError
from tests.crag_graph.nodes.node_running import Alone
from tests.crag_graph.running import Cast
from tests.fakes.services import ScriptedEvaluator, page, passage

LEAVE = passage("Leave lasts twelve weeks. It is paid in full. It may be split. Tell us early. Use the form.")
NEWS = page("Leave is longer in Sweden. It is 480 days.")


async def test_passages_and_pages_are_filtered_together_in_source_order() -> None:
    alone = Alone()
    update = await refine({"standalone": "q", "good": (LEAVE,), "pages": (NEWS,)}, alone.runtime)
    (strips,) = alone.cast.evaluator.filtered
    assert [strip.passage for strip in strips] == [LEAVE, LEAVE, NEWS]
    assert [judged.strip for judged in update["strips"]] == list(strips)


async def test_nothing_to_refine_asks_nobody() -> None:
    alone = Alone()
    assert await refine({"standalone": "q", "good": ()}, alone.runtime) == {"strips": ()}
    assert alone.cast.evaluator.filtered == []


async def test_a_strip_keeps_its_score_and_reason_whether_it_is_kept_or_not() -> None:
    alone = Alone(cast=Cast(evaluator=ScriptedEvaluator(keep=["twelve"])))
    update = await refine({"standalone": "q", "good": (LEAVE,)}, alone.runtime)
    assert [(judged.kept, judged.score.value) for judged in update["strips"]] == [(True, 0.9), (False, 0.1)]


class RankingEvaluator(ScriptedEvaluator):
    """The later a strip, the better."""

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        scores = tuple(Score(value=index / len(strips), reason="later") for index in range(len(strips)))
        return Filtering(scores=scores, keep=(True,) * len(strips))


class WeakEvaluator(ScriptedEvaluator):
    """Keeps every strip, with a score that is low except where it says 480."""

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        scores = tuple(Score(value=0.5 if "480" in strip.text else 0.1, reason="weak") for strip in strips)
        return Filtering(scores=scores, keep=(True,) * len(strips))


async def test_of_a_page_whose_best_strip_is_below_the_bar_nothing_is_kept() -> None:
    alone = Alone(cast=Cast(evaluator=WeakEvaluator()))
    other = page("Football is played by eleven. It takes ninety minutes.", link="https://pages.example/football")
    update = await refine({"standalone": "q", "good": (LEAVE,), "pages": (NEWS, other)}, alone.runtime)
    kept = {judged.strip.passage.id for judged in update["strips"] if judged.kept}
    assert kept == {LEAVE.id, NEWS.id}  # a passage of the library was held to the bar before


async def test_where_there_is_too_much_the_best_strips_stay_in_source_order() -> None:
    pages = [passage(f"Rule {n} of leave is a sentence of its own. It has a second one.") for n in range(10)]
    alone = Alone(cast=Cast(evaluator=RankingEvaluator()), policy=Policy(context_characters=200))
    update = await refine({"standalone": "q", "good": tuple(pages)}, alone.runtime)
    assert [judged.kept for judged in update["strips"]] == [False] * 7 + [True] * 3


class ForgetfulEvaluator(ScriptedEvaluator):
    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        return Filtering(scores=(), keep=(True,))


async def test_judgements_that_do_not_match_the_strips_are_no_reply() -> None:
    alone = Alone(cast=Cast(evaluator=ForgetfulEvaluator()))
    with pytest.raises(ModelReplyError, match="1 judgements for 2 strips"):
        await refine({"standalone": "q", "good": (LEAVE,)}, alone.runtime)
