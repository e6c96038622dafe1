"""People press what stands under an answer: it does what it says, once, and says so."""

import asyncio

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.services import Services
from tests.fakes.services import ScriptedEvaluator, ScriptedWeb, ScriptedWriter, page
from tests.scenarios.slack.bot import Bot, Options, Stage, scripted
from tests.slack_workspace import Message

NEWS = page("Since May it is 20 weeks elsewhere.", title="News", link="https://news.test/leave")


def with_web(score: float = 0.9) -> Services:
    return scripted(evaluator=ScriptedEvaluator(scores={"weeks": score}), web=ScriptedWeb(pages=[NEWS]))


async def replies(stage: Stage, question: Message, count: int) -> list[Message]:
    """So many finished answers in the question's thread, and after them nothing."""
    await stage.slack.until(lambda: len(stage.slack.replies(question)) >= count)
    await stage.slack.until(lambda: all(one.is_finished and one.buttons for one in stage.slack.replies(question)))
    await stage.slack.quiet()
    found = stage.slack.replies(question)
    assert len(found) == count
    return found


async def test_the_web_is_searched_too_where_the_library_was_enough(stage: Stage) -> None:
    for http in (False, True):
        async with stage.bot(with_web(), Options(http=http)):
            question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
            first = await stage.slack.reply_to(question, saying="Answered from your documents\n[1] Leave · internal")
            assert (await stage.ada.clicks("Search the web too", on=first)).ok
            await stage.ada.is_shown("searching the web too", in_=stage.travel, since=first.ts)
            second = (await replies(stage, question, 2))[1]
            assert "Answered from your documents and the web\n[1] Leave · internal\n[2] News · web" in second.screen
            assert "Search the web too" not in second.buttons
            assert "20 weeks" not in first.screen

            await stage.ada.clicks("Only our documents", on=second)
            third = (await replies(stage, question, 3))[2]
            assert "News" not in third.screen
            assert "Search the web too" in third.buttons


async def test_a_button_that_could_do_nothing_is_not_there(stage: Stage) -> None:
    async with stage.bot(scripted(web=ScriptedWeb(available=False))):
        assert (await stage.asks("@bot How many weeks?")).buttons[:-2] == ("How I got here", "Ask again")
    async with stage.bot(with_web(0.1)):  # nothing in the library is good enough
        reply = await stage.asks("@bot And how many weeks?")
        assert reply.buttons[:-2] == ("How I got here", "Ask again")


async def test_a_button_works_once_however_often_it_is_pressed(stage: Stage) -> None:
    services = with_web()
    async with stage.bot(services):
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        first = await stage.slack.reply_to(question)
        await asyncio.gather(*(stage.ada.clicks("Ask again", on=first) for _ in range(5)))
        await replies(stage, question, 2)
        assert (await stage.ada.clicks("Ask again", on=first)).ok
        await stage.ada.is_shown("done this already", in_=stage.travel)
        await replies(stage, question, 2)


async def test_what_is_asked_again_takes_the_place_of_its_turn(stage: Stage) -> None:
    services = with_web()
    async with stage.bot(services):
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        first = await stage.slack.reply_to(question)
        await stage.ada.clicks("Search the web too", on=first)
        await replies(stage, question, 2)
        follow_up = await stage.ada.says("And elsewhere?", in_=question)
        await stage.slack.reply_to(follow_up)
    writer = services.writer
    assert isinstance(writer, ScriptedWriter)
    (later,) = writer.conversations  # the one that had to be made to stand alone
    assert [(turn["question"], len(turn["sources"])) for turn in later.turns] == [("How many weeks?", 2)]


async def test_only_the_asker_has_a_question_answered_again(bot: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    first = await stage.slack.reply_to(question)
    assert (await bob.clicks("Ask again", on=first)).ok
    await bob.is_shown("Only the person who asked", in_=stage.travel)
    await replies(stage, question, 1)


async def test_a_forgotten_answer_is_not_asked_again(bot: Bot, stage: Stage) -> None:
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    first = await stage.slack.reply_to(question)
    await stage.ada.runs("/crag-forget", in_=stage.travel, saying="Forgotten")
    assert (await stage.ada.clicks("Search the web too", on=first)).ok
    await stage.ada.is_shown("no longer known", in_=stage.travel)
    await replies(stage, question, 1)


async def test_a_press_that_cannot_be_stored_is_shown_as_failed(bot: Bot, stage: Stage, engine: AsyncEngine) -> None:
    reply = await stage.asks("@bot How many weeks?")
    async with engine.begin() as connection:
        await connection.execute(text("ALTER TABLE inbox RENAME TO elsewhere"))
    assert not (await stage.ada.clicks("Ask again", on=reply)).ok
    async with engine.begin() as connection:
        await connection.execute(text("ALTER TABLE elsewhere RENAME TO inbox"))
    assert (await stage.ada.clicks("Ask again", on=reply)).ok


async def test_a_private_answer_is_asked_again_in_private(stage: Stage) -> None:
    async with stage.bot(with_web()):
        first = await stage.ada.runs("/crag-ask How many weeks?", in_=stage.travel, saying="16 weeks")
        await stage.ada.clicks("Search the web too", on=first)
        second = await stage.ada.is_shown("20 weeks", in_=stage.travel)
        assert second.is_private
        assert not [post for post in stage.travel.posts.values() if post.author.is_bot]


async def test_a_vote_counts_and_its_reason_is_kept_with_it(bot: Bot, stage: Stage, engine: AsyncEngine) -> None:
    async def stored() -> list[tuple[bool, str]]:
        async with engine.connect() as connection:
            return [tuple(row) for row in (await connection.execute(text("SELECT helpful, note FROM feedback"))).all()]

    reply = await stage.asks("@bot How many weeks?")
    await stage.ada.clicks("Not helpful", on=reply)
    modal = await stage.ada.sees_modal("What was wrong?")
    assert await stored() == [(False, "")]
    assert (await stage.ada.submits(modal, {"Why did the answer not help?": "It is 17 weeks.\x00"})).ok
    assert await stored() == [(False, "It is 17 weeks.")]
    await stage.ada.clicks("Not helpful", on=reply)
    await stage.ada.closes(await stage.ada.sees_modal("What was wrong?"))
    assert await stored() == [(False, "It is 17 weeks.")]
    await stage.ada.clicks("Helpful", on=reply)
    assert await stored() == [(True, "")]


async def test_a_vote_counts_though_its_modal_cannot_be_opened(bot: Bot, stage: Stage, engine: AsyncEngine) -> None:
    reply = await stage.asks("@bot How many weeks?")
    stage.slack.faults.next("views.open", error="expired_trigger_id")
    assert (await stage.ada.clicks("Not helpful", on=reply)).ok
    await stage.ada.is_shown("noted with the answer. To say why", in_=stage.travel)
    async with engine.connect() as connection:
        assert (await connection.execute(text("SELECT helpful FROM feedback"))).scalar_one() is False


async def test_a_reason_for_an_answer_that_was_forgotten_meanwhile_says_so(bot: Bot, stage: Stage) -> None:
    reply = await stage.asks("@bot How many weeks?")
    await stage.ada.clicks("Not helpful", on=reply)
    modal = await stage.ada.sees_modal("What was wrong?")
    await stage.ada.runs("/crag-forget", in_=stage.travel, saying="Forgotten")
    outcome = await stage.ada.submits(modal, {"Why did the answer not help?": "It is 17 weeks."})
    assert outcome.shows is not None
    assert "no longer known" in outcome.shows.screen
