from collections.abc import Callable

import pytest

from crag_graph.domain import Abstention, JudgedStrip, Passage, Score, TextDelta, TextRestart, Verdict
from crag_graph.nodes.generate import FILES_IN_PART, generate
from crag_graph.services import Brief, Draft, ModelBusyError, ModelReplyError
from crag_graph.state import State
from crag_graph.strips import decompose
from tests.crag_graph.nodes.node_running import Alone
from tests.crag_graph.running import TODAY, Cast, turn
from tests.fakes.services import ScriptedWriter, page, passage, trouble

LEAVE = passage("Leave lasts twelve weeks. It is paid in full. It may be split. Tell us early.", title="Handbook")
NEWS = page("Leave is longer in Sweden. It is 480 days.", title="Sweden")


def refined(*passages: Passage) -> State:
    strips = [strip for one in passages for strip in decompose(one)]
    return {
        "question": "And leave?",
        "standalone": "How long is leave?",
        "verdict": Verdict.AMBIGUOUS,
        "reason": "In part.",
        "turns": [turn("What is leave?", "Time off.")],
        "strips": tuple(JudgedStrip(strip=s, score=Score(value=0.9, reason="r"), kept=True) for s in strips),
    }


async def test_the_brief_holds_all_that_generation_may_use() -> None:
    alone = Alone(cast=Cast(writer=ScriptedWriter(answer="Long [1].")))
    await generate(refined(LEAVE, NEWS), alone.runtime)
    (brief,) = alone.cast.writer.briefs
    assert (brief.question, brief.standalone, brief.today) == ("And leave?", "How long is leave?", TODAY)
    assert [(source.number, source.title) for source in brief.sources] == [(1, "Handbook"), (2, "Sweden")]
    assert [turn["answer"] for turn in brief.conversation.turns] == ["Time off."]


async def test_a_sentence_that_two_strips_share_comes_once() -> None:
    alone = Alone(cast=Cast(writer=ScriptedWriter(answer="Long [1].")))
    await generate(refined(LEAVE), alone.runtime)
    ((strip,),) = [source.strips for source in alone.cast.writer.briefs[0].sources]
    assert strip.text == LEAVE.text


async def test_the_second_source_cited_first_is_number_one() -> None:
    alone = Alone(cast=Cast(writer=ScriptedWriter(answer="In Sweden 480 days [2]. Here twelve weeks [1].")))
    update = await generate(refined(LEAVE, NEWS), alone.runtime)
    assert update["answer"].text == "In Sweden 480 days [1]. Here twelve weeks [2]."
    assert [(c.mark, c.title, c.quote) for c in update["answer"].citations] == [
        (1, "Sweden", "It is 480 days."),
        (2, "Handbook", "Leave lasts twelve weeks."),
    ]


async def test_a_part_that_the_writer_finds_nowhere_is_told_beside_the_answer() -> None:
    writer = ScriptedWriter(answer="Twelve weeks [1].", missing=("who won the cup?",))
    update = await generate(refined(LEAVE), Alone(cast=Cast(writer=writer)).runtime)
    assert update["answer"].notice == "Nothing that I found answers “who won the cup”."


async def test_a_writer_that_finds_no_answer_gives_none_and_shows_nothing() -> None:
    alone = Alone(cast=Cast(writer=ScriptedWriter(answer="", missing=("How long is leave?",), name="judge")))
    update = await generate(refined(LEAVE), alone.runtime)
    assert "answer" not in update
    assert [call.model for call in update["calls"]] == ["judge"]
    assert [event for event in alone.progress if isinstance(event, TextDelta)] == []


class SilentWriter(ScriptedWriter):
    """Gives its text at the end, not as it comes."""

    async def generate(self, brief: Brief, emit: Callable[[str], None]) -> Draft:
        return Draft(text="Twelve weeks [1].")


async def test_a_writer_that_does_not_stream_is_shown_at_the_end() -> None:
    alone = Alone(cast=Cast(writer=SilentWriter()))
    update = await generate(refined(LEAVE), alone.runtime)
    assert update["answer"].text == "Twelve weeks [1]."
    assert alone.progress == [TextDelta(text="Twelve weeks [1].")]


async def test_what_was_shown_of_a_failed_attempt_is_taken_back() -> None:
    alone = Alone(
        cast=Cast(writer=ScriptedWriter(answer="Twelve weeks [1].", trouble=trouble(generate=[ModelBusyError()])))
    )
    with pytest.raises(ModelBusyError):
        await generate(refined(LEAVE), alone.runtime)
    assert isinstance(alone.progress[0], TextDelta)
    assert alone.progress[-1] == TextRestart()


async def test_where_nothing_was_shown_nothing_is_taken_back() -> None:
    alone = Alone(cast=Cast(writer=ScriptedWriter(answer="")))
    with pytest.raises(ModelReplyError, match="empty"):
        await generate(refined(LEAVE), alone.runtime)
    assert alone.progress == []


async def test_the_turn_is_appended_to_those_before() -> None:
    update = await generate(refined(LEAVE), Alone(cast=Cast(writer=ScriptedWriter(answer="Long [1]."))).runtime)
    assert [turn["question"] for turn in update["turns"]] == ["What is leave?", "And leave?"]
    assert update["turns"][1]["sources"][0]["title"] == "Handbook"


@pytest.mark.parametrize("missing", [Abstention.WEB_OFF, Abstention.WEB_NOT_ASKED])
async def test_files_that_answer_in_part_are_not_called_the_library(missing: Abstention) -> None:
    alone = Alone(cast=Cast(writer=ScriptedWriter(answer="Twelve weeks [1].")))
    asked: State = {**refined(LEAVE), "web_missing": missing, "files_alone": True}
    assert (await generate(asked, alone.runtime))["answer"].notice == FILES_IN_PART()
    enough: State = {**asked, "verdict": Verdict.CORRECT}
    assert (await generate(enough, alone.runtime))["answer"].notice == ""
