from crag_graph.context import Policy
from crag_graph.nodes.contextualize import contextualize
from tests.crag_graph.nodes.node_running import Alone
from tests.crag_graph.running import Cast, turn
from tests.fakes.services import ScriptedWriter

LEAVE = turn("How long is parental leave?", "Twelve weeks [1].")


async def test_a_question_without_a_conversation_stands_alone_as_it_is() -> None:
    alone = Alone()
    assert await contextualize({"question": "How long?"}, alone.runtime) == {"standalone": "How long?"}
    assert alone.cast.writer.conversations == []


async def test_a_follow_up_gets_what_the_writer_makes_of_it() -> None:
    alone = Alone(cast=Cast(writer=ScriptedWriter(standalone={"And adoption?": "How long is adoption leave?"})))
    update = await contextualize({"question": "And adoption?", "turns": [LEAVE]}, alone.runtime)
    assert update["standalone"] == "How long is adoption leave?"
    assert [call.role for call in update["calls"]] == ["contextualize"]
    assert "turns" not in update


async def test_what_people_wrote_in_the_thread_makes_a_first_question_a_follow_up() -> None:
    alone = Alone(cast=Cast(writer=ScriptedWriter(standalone={"Is that so?": "Is leave paid?"})))
    update = await contextualize({"question": "Is that so?", "chatter": ("Ada: Leave is paid.",)}, alone.runtime)
    assert update["standalone"] == "Is leave paid?"
    assert alone.cast.writer.conversations[0].chatter == ("Ada: Leave is paid.",)


async def test_a_summary_alone_is_a_conversation_too() -> None:
    alone = Alone()
    await contextualize({"question": "And then?", "summary": "They talked about leave."}, alone.runtime)
    assert alone.cast.writer.conversations[0].summary == "They talked about leave."


async def test_a_writer_that_says_nothing_leaves_the_question_as_it_was() -> None:
    alone = Alone(cast=Cast(writer=ScriptedWriter(standalone={"And then?": " \n"})))
    update = await contextualize({"question": "And then?", "turns": [LEAVE]}, alone.runtime)
    assert update["standalone"] == "And then?"


async def test_turns_that_do_not_fit_are_folded_into_the_summary_in_the_same_request() -> None:
    alone = Alone(policy=Policy(memory_tokens=20))
    update = await contextualize({"question": "And then?", "turns": [LEAVE, LEAVE, LEAVE]}, alone.runtime)
    assert update["turns"] == [LEAVE]
    assert update["summary"] == "They talked."
    assert len(alone.cast.writer.overflows[0]) == 2
    assert len(update["calls"]) == 1
