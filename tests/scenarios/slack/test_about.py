"""Somebody asks about a message of others: answered to whoever asks, in its thread, with the message as context."""

from tests.fakes.services import ScriptedWriter
from tests.scenarios.slack.bot import Bot, Stage
from tests.slack_workspace import Message, Person
from tests.slack_workspace.modal import Modal

NAME = "Ask about this message"


async def opens(person: Person, on: Message) -> Modal:
    assert (await person.uses_shortcut(NAME, on=on)).ok
    return await person.sees_modal(NAME)


async def test_the_message_is_context_and_the_answer_is_for_the_asker_alone(either: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    message = await bob.says("My second child is due in May.", in_=stage.travel)
    modal = await opens(stage.ada, message)
    assert "My second child is due in May." in modal.screen
    assert (await stage.ada.submits(modal, {"Your question": "How many weeks does he get?"})).ok
    answer = await stage.ada.is_shown("16 weeks", in_=stage.travel)
    assert answer.is_private
    assert stage.slack.replies(message) == []
    writer = either.services.writer
    assert isinstance(writer, ScriptedWriter)
    assert any("second child" in line for line in writer.conversations[-1].chatter)


async def test_a_question_without_words_keeps_the_modal_open(bot: Bot, stage: Stage) -> None:
    message = await stage.ada.says("Leave is long.", in_=stage.travel)
    modal = await opens(stage.ada, message)
    outcome = await stage.ada.submits(modal, {"Your question": "?!"})
    assert "Ask me a question" in str(outcome)
    assert modal.is_open


async def test_in_direct_messages_the_answer_stands_in_the_thread(bot: Bot, stage: Stage) -> None:
    first = await stage.asks("How many weeks?", in_=stage.ada.dm)
    modal = await opens(stage.ada, first)
    await stage.ada.submits(modal, {"Your question": "How many weeks for adopting?"})
    await stage.slack.until(lambda: len(stage.slack.replies(first)) >= 1)
    await stage.slack.reply_to(first, saying="16 weeks")
