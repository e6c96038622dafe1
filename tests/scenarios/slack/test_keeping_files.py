"""Files that came with a question are kept in the library only on request, and else go with their conversation."""

from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.channels.settings import Ingesters
from bot.forgetting import let_files_go
from bot.traces import gaps
from crag_graph.knowledge.attached import Attached
from crag_graph.services import Services
from tests.scenarios.slack.bot import Bot, Options, Stage
from tests.scenarios.slack.files import KEEP, asks, names_in, offer, reading_services, until_there_is


@pytest.fixture
def services(engine: AsyncEngine) -> Services:
    return reading_services(engine)


async def test_kept_files_move_into_the_place_and_keeping_again_harms_nothing(bot: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    asked = await asks(
        stage, "@bot What does the train cost?", offer(stage), offer(stage, "bill.md", b"It is 3 euros.")
    )
    await bob.clicks(KEEP, on=asked.reply)
    modal = await bob.sees_modal(KEEP)
    assert "It can be asked about in #travel alone." in modal.screen
    await bob.submits(modal, {"Files to keep": ["offer.md"]})
    assert "In the library now: “offer.md”. It can be asked about in #travel alone." in modal.screen
    (kept,) = await bot.library.documents()
    assert (kept.title, kept.space) == ("offer.md", f"{stage.slack.team.id}:{stage.travel.id}")
    assert kept.added_by == bob.id
    assert kept.source == kept.link
    await bob.closes(modal)

    answer = await stage.asks("@bot What does the train cost?")
    assert "310 euros" in answer.screen
    assert await names_in(bot, asked.question) == ["bill.md"]

    await stage.ada.clicks(KEEP, on=asked.reply)
    rest = await stage.ada.sees_modal(KEEP)
    await bob.clicks(KEEP, on=asked.reply)
    late = await bob.sees_modal(KEEP)
    await stage.ada.submits(rest)
    await bob.submits(late)
    assert "There is nothing left to keep" in late.screen
    await stage.ada.clicks(KEEP, on=asked.reply)
    assert (await stage.ada.is_shown("There is nothing left to keep", in_=stage.travel)).is_private
    assert sorted(document.title for document in await bot.library.documents()) == ["bill.md", "offer.md"]


async def test_only_who_may_add_documents_keeps_files_and_only_admins_for_everybody(
    stage: Stage, services: Services
) -> None:
    bob = stage.joins("Bob")
    options = Options(http=True, admins=frozenset({stage.ada.id}))
    async with stage.bot(services, options) as bot:
        asked = await asks(stage, "@bot What does the train cost?", offer(stage))
        await bob.clicks(KEEP, on=asked.reply)
        opened = await bob.sees_modal(KEEP)
        assert "Who can ask about it" not in opened.fields
        settings = await bot.channels.of(stage.slack.team.id, stage.travel.id)
        await bot.channels.save(
            stage.slack.team.id, stage.travel.id, replace(settings, ingest=Ingesters.ADMINS), by=stage.ada.id
        )
        outcome = await bob.submits(opened)
        assert "Only admins may add documents" in str(outcome.errors)
        await bob.closes(opened)
        await bob.clicks(KEEP, on=asked.reply)
        assert "Only admins may add documents" in (await bob.sees_modal(KEEP)).screen
        assert await bot.library.documents() == ()
        await stage.ada.clicks(KEEP, on=asked.reply)
        modal = await stage.ada.sees_modal(KEEP)
        await stage.ada.submits(modal, {"Who can ask about it": "Everybody in the workspace"})
        assert [document.space for document in await bot.library.documents()] == ["workspace"]


async def test_a_forgotten_conversation_forgets_its_files_and_its_old_button_says_so(bot: Bot, stage: Stage) -> None:
    asked = await asks(stage, "@bot What does the train cost?", offer(stage))
    told = await stage.ada.runs("/crag-forget", in_=stage.travel, saying="Forgotten")
    assert "Files that came with questions, and were not kept in the library, are gone, too: 1." in told.screen
    assert await names_in(bot, asked.question) == []
    await stage.ada.clicks(KEEP, on=asked.reply)
    assert (await stage.ada.is_shown("There is nothing left to keep", in_=stage.travel)).is_private


async def test_a_deleted_question_takes_its_files_back_and_no_others(bot: Bot, stage: Stage) -> None:
    first = await asks(stage, "@bot What does the train cost?", offer(stage))
    second = await asks(stage, "@bot What is this?", offer(stage, "bill.md", b"It is 3 euros."), in_=first.question)
    await stage.ada.deletes(first.question)
    await until_there_is(bot, second.question, "bill.md")
    await stage.ada.deletes(second.question)
    await until_there_is(bot, second.question)


async def test_a_conversation_that_rests_lets_go_of_its_files(bot: Bot, stage: Stage, engine: AsyncEngine) -> None:
    rested = await asks(stage, "@bot What does the train cost?", offer(stage))
    goes_on = await asks(stage, "@bot What does the train cost?", offer(stage))
    attached, inbox = Attached(engine=engine), bot.inbox
    assert await let_files_go(attached, inbox) == 0
    async with engine.begin() as connection:
        for table, column in (("documents", "added_at"), ("inbox", "received_at")):
            await connection.execute(text(f"UPDATE {table} SET {column} = {column} - interval '31 days'"))  # noqa: S608 - constants
    await stage.asks("@bot And what does the train cost now?", in_=goes_on.question)
    assert await let_files_go(attached, inbox) == 1
    assert await names_in(bot, rested.question) == []
    assert await names_in(bot, goes_on.question) == ["offer.md"]


async def test_whoever_is_erased_has_their_files_erased_and_those_of_others_stay(bot: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    mine = await asks(stage, "@bot What does the train cost?", offer(stage))
    theirs = await asks(stage, "@bot What does the train cost?", offer(stage, by=bob), by=bob)
    await stage.ada.runs("/crag-forget everything", in_=stage.travel, saying="Forgotten, everything")
    assert await names_in(bot, mine.question) == []
    assert await names_in(bot, theirs.question) == ["offer.md"]
    await bot.eraser.erase_team(stage.slack.team.id)
    assert await names_in(bot, theirs.question) == []


async def test_what_files_do_not_answer_is_no_gap_of_the_library(bot: Bot, stage: Stage, engine: AsyncEngine) -> None:
    asked = await asks(stage, "@bot Who won the game?", offer(stage, "weather.md", b"It rains in Bergen."))
    assert "The files do not answer this" in asked.reply.screen
    assert await gaps.waiting(engine, team=stage.slack.team.id, model="letters") == 0
