"""People stop an answer, edit the question or delete it: while it waits, while it is answered, and afterwards."""

import asyncio

import pytest

from bot.slack.replies.pace import Pace
from tests.fakes.services import ScriptedLibrary, ScriptedWriter, trouble
from tests.scenarios.slack.bot import Bot, Options, Stage, done, scripted
from tests.slack_workspace import Message


def slow(*, seconds: float = 30.0, times: int = 1) -> ScriptedWriter:
    return ScriptedWriter(answer="word " * 40, trouble=trouble(generate=[seconds] * times))


async def taken(stage: Stage, text: str, question: Message) -> Message:
    """A further question in the thread, which waits for its turn."""
    asked = await stage.ada.says(text, in_=question)
    await stage.slack.until(lambda: all(event.ack for event in stage.slack.network.events_of(asked)))
    return asked


async def running(stage: Stage, text: str = "@bot How many weeks?") -> Message:
    """A question whose answer is being written, for all to see."""
    question = await stage.ada.says(text, in_=stage.travel)
    await stage.slack.until(lambda: stage.slack.replies(question))
    await stage.slack.until(lambda: stage.slack.session(question).state == "processing")
    return question


def edits() -> Options:
    """Where nothing can be streamed, a message is edited."""
    pace = Pace(patience=0.05, edit_every=0.1)
    pace.streaming.close()
    return Options(pace=pace)


@pytest.mark.parametrize("http", [True, False])
async def test_an_edit_while_the_answer_is_made_has_the_new_question_answered(stage: Stage, http: bool) -> None:
    services = scripted(writer=ScriptedWriter(trouble=trouble(generate=[30.0])))
    async with stage.bot(services, Options(http=http)):
        question = await running(stage)
        await stage.ada.edits(question, "@bot How many weeks for twins?")
        reply = await stage.slack.reply_to(question, saying="16 weeks", until=lambda one: len(one.buttons) > 1)
        await stage.slack.until(lambda: stage.slack.session(question).state == "active")
        assert [one.ts for one in stage.slack.replies(question)] == [reply.ts]
    assert isinstance(services.writer, ScriptedWriter)
    assert services.writer.briefs[-1].question == "How many weeks for twins?"


async def test_a_question_that_waits_is_answered_as_it_reads_now(stage: Stage) -> None:
    services = scripted(writer=slow(seconds=1.0))
    async with stage.bot(services):
        question = await running(stage)
        second = await taken(stage, "@bot And how many weeks later?", question)
        await stage.ada.edits(second, "@bot And how many weeks before?")
        await stage.slack.until(lambda: len(stage.slack.replies(second)) == 1)
        await stage.slack.reply_to(second, until=lambda one: bool(one.buttons))
    assert isinstance(services.library, ScriptedLibrary)
    assert services.library.queries == ["How many weeks?", "And how many weeks before?"]


async def test_an_edit_after_the_answer_offers_another_one(bot: Bot, stage: Stage) -> None:
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    first = await stage.slack.reply_to(question)
    await done(bot, question)
    await stage.ada.edits(question, "@bot How many weeks for twins?")
    offer = await stage.ada.is_shown("I can answer it as it reads now", in_=stage.travel)
    assert offer.is_private
    assert offer.buttons == ("Answer the edited question",)
    await asyncio.gather(*(stage.ada.clicks("Answer the edited question", on=offer) for _ in range(3)))
    await stage.ada.is_shown("I am answering the question as it reads now", in_=stage.travel)
    await stage.slack.until(lambda: len(stage.slack.replies(question)) == 2)
    await stage.slack.reply_to(question, until=lambda one: one.ts > first.ts and bool(one.buttons))
    await stage.ada.clicks("Answer the edited question", on=offer)
    await stage.ada.is_shown("answered the edited question already", in_=stage.travel)
    await stage.slack.quiet()
    assert len(stage.slack.replies(question)) == 2
    library = bot.services.library
    assert isinstance(library, ScriptedLibrary)
    assert library.queries == ["How many weeks?", "How many weeks for twins?"]


async def test_what_is_no_edit_of_a_question_is_left_alone(bot: Bot, stage: Stage) -> None:
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    await stage.slack.reply_to(question)
    stage.slack.network.unfurls(question)
    await stage.ada.edits(question, "@bot How many weeks?")
    plain = await stage.ada.says("Nice weather", in_=stage.travel)
    await stage.ada.edits(plain, "Bad weather")
    await stage.ada.deletes(plain)
    await stage.slack.quiet()
    assert not stage.travel.shown
    assert len(stage.slack.replies(question)) == 1


async def test_an_edited_question_that_is_gone_by_then_is_not_answered(bot: Bot, stage: Stage) -> None:
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    await stage.slack.reply_to(question)
    await done(bot, question)
    await stage.ada.edits(question, "@bot How many weeks for twins?")
    offer = await stage.ada.is_shown("as it reads now", in_=stage.travel)
    await stage.ada.deletes(question)
    await stage.ada.clicks("Answer the edited question", on=offer)
    await stage.slack.until(lambda: len(stage.slack.replies(question)) == 2)
    assert "The message with your question is gone" in stage.slack.replies(question)[1].screen


@pytest.mark.parametrize("streams", [True, False])
async def test_a_deleted_question_ends_its_answer_and_takes_it_along(stage: Stage, streams: bool) -> None:
    services = scripted(writer=slow())
    async with stage.bot(services, None if streams else edits()):
        question = await running(stage)
        other = await taken(stage, "@bot And this?", question)
        await stage.ada.deletes(question)
        await stage.slack.reply_to(other, until=lambda one: bool(one.buttons))
        assert len([one for one in stage.slack.replies(question) if not one.is_deleted]) == 1
        await stage.slack.until(lambda: stage.slack.session(question).state == "active")
        assert not stage.ada.dm.posts


async def test_a_deleted_question_that_waits_is_never_answered(stage: Stage) -> None:
    services = scripted(writer=slow(seconds=1.0))
    async with stage.bot(services):
        question = await running(stage)
        waits = await taken(stage, "@bot And how many weeks later?", question)
        await stage.ada.deletes(waits)
        await stage.slack.reply_to(question, until=lambda one: bool(one.buttons))
        await stage.slack.quiet(0.5)
        assert len(stage.slack.replies(question)) == 1


async def test_a_question_whose_deletion_is_heard_of_first_is_never_answered(either: Bot, stage: Stage) -> None:
    stage.slack.network.holds_events(0.4)
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    stage.slack.network.holds_events(0.0)
    await stage.ada.deletes(question)
    await stage.slack.until(lambda: all(event.ack for event in stage.slack.network.events_of(question)))
    await stage.slack.quiet()
    assert stage.slack.replies(question) == []


async def test_an_answer_stays_when_its_question_is_deleted_later(bot: Bot, stage: Stage) -> None:
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    reply = await stage.slack.reply_to(question)
    await stage.ada.deletes(question)
    await stage.slack.quiet()
    assert "16 weeks" in reply.screen


async def test_where_a_message_is_edited_it_has_a_stop_button_for_its_asker(stage: Stage) -> None:
    async with stage.bot(scripted(writer=slow()), edits()):
        bob = stage.joins("Bob")
        question = await running(stage)
        sign = stage.slack.replies(question)[0]
        assert sign.buttons == ("Stop",)
        await bob.clicks("Stop", on=sign)
        await bob.is_shown("Only the person who asked can stop this", in_=stage.travel)
        await stage.ada.clicks("Stop", on=sign)
        await stage.ada.is_shown("I am stopping", in_=stage.travel)
        reply = await stage.slack.reply_to(question, saying="Stopped.")
        assert reply.buttons == ()


async def test_a_private_answer_can_be_stopped(stage: Stage) -> None:
    async with stage.bot(scripted(writer=slow())):
        sign = await stage.ada.runs("/crag-ask How many weeks?", in_=stage.travel)
        assert sign.buttons == ("Stop",)
        await stage.ada.clicks("Stop", on=sign)
        await stage.ada.is_shown("Stopped.", in_=stage.travel)
        await stage.slack.quiet()
        await stage.ada.clicks("Stop", on=sign)
        await stage.ada.is_shown("finished already", in_=stage.travel)
