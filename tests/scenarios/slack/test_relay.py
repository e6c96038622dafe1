"""What one person has is handed on: a private answer to everybody, an unanswered question to people who know."""

from bot.channels.settings import ChannelSettings, Ingesters, Manner
from bot.inbox.statements import CALLED
from bot.slack.views.offers import Offer
from crag_graph.services import Services
from tests.fakes.services import ScriptedEvaluator, ScriptedWeb
from tests.scenarios.slack.bot import Bot, Stage, scripted
from tests.slack_workspace import Message, Person

UNKNOWN = "Who repairs the coffee machine?"


def helpless() -> Services:
    return scripted(evaluator=ScriptedEvaluator(scores={"Dolores": 0.9}), web=ScriptedWeb(available=False))


async def calls(bot: Bot, stage: Stage, *people: Person, manner: Manner = Manner.THREAD) -> None:
    """The channel settles whom to call."""
    settings = ChannelSettings(callable_people=tuple(person.id for person in people), manner=manner)
    await bot.channels.save(stage.slack.team.id, stage.travel.id, settings, by=stage.ada.id)


async def shown(stage: Stage, saying: str) -> Message:
    """The one message of the bot that says so to everybody; nothing follows it."""

    def found() -> list[Message]:
        return [one for one in stage.slack.messages(stage.travel) if one.author.is_bot and saying in one.screen]

    await stage.slack.until(found)
    await stage.slack.quiet()
    (message,) = found()
    return message


async def test_a_private_answer_is_shared_once_with_its_question_and_its_sources(bot: Bot, stage: Stage) -> None:
    private = await stage.ada.runs("/crag-ask How many weeks?", in_=stage.travel, saying="16 weeks")
    assert "Share in channel" in private.buttons
    for _ in range(2):
        assert (await stage.ada.clicks("Share in channel", on=private)).ok
        shared = await shown(stage, "16 weeks")
    assert f"{stage.ada.account.name} asked me “How many weeks?”" in shared.screen
    assert "[1] Leave · internal" in shared.screen
    assert "Share in channel" not in shared.buttons
    assert "Helpful" in shared.buttons


async def test_what_is_answered_for_everybody_or_in_direct_messages_is_not_shared(bot: Bot, stage: Stage) -> None:
    assert "Share in channel" not in (await stage.asks("@bot How many weeks?")).buttons
    assert "Share in channel" not in (await stage.asks("How many weeks?", in_=stage.ada.dm)).buttons


async def test_the_people_of_the_channel_are_called_and_what_they_answer_is_stored_and_cited(stage: Stage) -> None:
    assert f"{Offer.PERSON}:" == CALLED
    bob = stage.joins("Bob")
    async with stage.bot(helpless()) as bot:
        await calls(bot, stage, bob)
        question = await stage.ada.says(f"@bot {UNKNOWN}", in_=stage.travel)
        abstained = await stage.slack.reply_to(question)
        for _ in range(2):
            assert (await stage.ada.clicks("Ask a person", on=abstained)).ok
            called = await shown(stage, "Please answer here")
        assert bob.id in called.pings
        assert UNKNOWN in called.screen

        answer = await bob.says("Dolores of facilities repairs it, extension 4711.", in_=question)
        await stage.slack.quiet()
        assert len(stage.slack.replies(question)) == 2  # it is no question to us

        assert (await bob.clicks("Store the answer", on=called)).ok
        modal = await bob.sees_modal("Store the answer")
        assert "Dolores of facilities" in modal.screen
        assert (await bob.submits(modal, {})).ok
        await shown(stage, "has stored this answer")
        (stored,) = await bot.experts.listed(team=stage.slack.team.id)
        assert (stored.author, stored.answer) == (bob.id, "Dolores of facilities repairs it, extension 4711.")
        document = await bot.library.document(stored.document)
        assert document
        assert document.space == f"{stage.slack.team.id}:{stage.travel.id}"
        assert answer.ts.replace(".", "") in (document.link or "")


async def test_where_every_message_is_answered_those_who_were_called_are_not(stage: Stage) -> None:
    bob = stage.joins("Bob")
    async with stage.bot(helpless()) as bot:
        await calls(bot, stage, bob, manner=Manner.ALL)
        question = await stage.ada.says(UNKNOWN, in_=stage.travel)
        await stage.ada.clicks("Ask a person", on=await stage.slack.reply_to(question))
        await shown(stage, "Please answer here")
        await bob.says("Dolores of facilities repairs it.", in_=question)
        await stage.slack.quiet()
        assert len(stage.slack.replies(question)) == 2
        await stage.ada.says("And who else?", in_=question)
        await stage.slack.until(lambda: len(stage.slack.replies(question)) == 3)

        private = await stage.ada.runs(f"/crag-ask {UNKNOWN}", in_=stage.travel, saying="does not answer")
        await stage.ada.clicks("Ask a person", on=private)
        await stage.slack.until(lambda: len(called_at_top(stage)) == 1)
        await stage.slack.quiet()
        (call,) = called_at_top(stage)
        await bob.says("Dolores, as I said.", in_=call)
        await stage.slack.quiet()
        assert len(stage.slack.thread(call)) == 2


def called_at_top(stage: Stage) -> list[Message]:
    said = [one for one in stage.slack.messages(stage.travel) if one.root == one.ts]
    return [one for one in said if "Please answer here" in one.screen]


async def test_nobody_is_called_where_nobody_was_chosen_or_by_others_than_the_asker(stage: Stage) -> None:
    bob = stage.joins("Bob")
    async with stage.bot(helpless()) as bot:
        assert "Ask a person" not in (await stage.asks(f"@bot {UNKNOWN}")).buttons
        await calls(bot, stage, bob)
        question = await stage.ada.says(f"@bot And now: {UNKNOWN}", in_=stage.travel)
        abstained = await stage.slack.reply_to(question)
        assert (await bob.clicks("Ask a person", on=abstained)).ok
        await bob.is_shown("Only the person who asked", in_=stage.travel)
        assert len(stage.slack.replies(question)) == 1


async def test_who_may_not_add_documents_stores_no_answer(stage: Stage) -> None:
    bob = stage.joins("Bob")
    async with stage.bot(helpless()) as bot:
        settings = ChannelSettings(callable_people=(bob.id,), ingest=Ingesters.ADMINS)
        await bot.channels.save(stage.slack.team.id, stage.travel.id, settings, by=stage.ada.id)
        question = await stage.ada.says(f"@bot {UNKNOWN}", in_=stage.travel)
        abstained = await stage.slack.reply_to(question)
        await stage.ada.clicks("Ask a person", on=abstained)
        await bob.clicks("Store the answer", on=await shown(stage, "Please answer here"))
        modal = await bob.sees_modal("Store the answer")
        assert "Only admins may add documents" in modal.screen
