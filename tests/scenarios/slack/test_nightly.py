"""What happens at night: a gap is mended and its asker told once; an expert is asked whether an answer still holds."""

from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.channels.settings import ChannelSettings
from bot.experts.answers import Correction
from bot.traces import gaps
from crag_graph.knowledge.search import HybridSearch
from crag_graph.knowledge.sources import Upload
from crag_graph.services import Services
from tests.fakes.services import ScriptedWeb
from tests.scenarios.slack.bot import Bot, LetterEmbedder, Options, Stage, scripted
from tests.slack_workspace import Message, Person

QUESTION = "@bot How long is leave?"
BUTTON = "Tell me when you know"
WRITTEN = "/crag-ingest text Leave\nParents get 16 weeks of leave."


@pytest.fixture
def services(engine: AsyncEngine) -> Services:
    """With the real library, which is empty at first."""
    return scripted(library=HybridSearch(engine, LetterEmbedder()), web=ScriptedWeb(available=False))


async def mark_written(engine: AsyncEngine, team: str) -> int:
    """As an admin does it on the page."""
    await gaps.group(engine, LetterEmbedder(), team=team, limit=100)
    (gap,) = await gaps.list_gaps(engine, team=team)
    assert await gaps.settle(engine, gap.id, "written", team=team, person="U7")
    return gap.id


async def state_of(engine: AsyncEngine, team: str) -> str:
    (gap,) = await gaps.list_gaps(engine, team=team)
    return gap.state


def told(stage: Stage, person: Person) -> list[Message]:
    return [message for message in stage.slack.messages(person.dm) if "I do now" in message.screen]


async def test_an_asker_who_wants_it_is_told_once_when_the_gap_is_mended(
    stage: Stage, engine: AsyncEngine, services: Services
) -> None:
    team = stage.slack.team.id
    async with stage.bot(services) as bot:
        answer = await stage.asks(QUESTION)
        await stage.ada.clicks(BUTTON, on=answer)
        await stage.ada.is_shown("I will tell you in our direct messages", in_=stage.travel)
        await mark_written(engine, team)
        await bot.slack.nightly.run()
        assert (await state_of(engine, team), told(stage, stage.ada)) == ("written", [])

        await stage.ada.runs(WRITTEN, in_=stage.travel, saying="Added")
        await bot.slack.nightly.run()
        (message,) = told(stage, stage.ada)
        assert "How long is leave?" in message.screen
        assert "16 weeks" in message.screen
        assert await state_of(engine, team) == "fixed"
        await bot.slack.nightly.run()
        assert len(told(stage, stage.ada)) == 1


async def test_a_channel_that_keeps_to_its_own_documents_does_so_at_night_too(
    stage: Stage, engine: AsyncEngine, services: Services
) -> None:
    team = stage.slack.team.id
    async with stage.bot(services) as bot:
        own = ChannelSettings(workspace=False)
        await bot.channels.save(team, stage.travel.id, own, by=stage.ada.id)
        await stage.ada.clicks(BUTTON, on=await stage.asks(QUESTION))
        await mark_written(engine, team)
        upload = Upload(filename="leave.txt", data=b"Leave\n\nParents get 16 weeks of leave.", source="leave.txt")
        async for _ in bot.ingest.ingest(upload, space="workspace", added_by=stage.ada.id):
            pass
        await bot.slack.nightly.run()
        assert told(stage, stage.ada) == []
        settled = await bot.channels.of(team, stage.travel.id)
        await bot.channels.save(team, stage.travel.id, replace(settled, workspace=True), by=stage.ada.id)
        await bot.slack.nightly.run()
        assert len(told(stage, stage.ada)) == 1


async def test_a_message_that_a_killed_worker_had_sent_is_not_sent_again(
    stage: Stage, engine: AsyncEngine, services: Services
) -> None:
    async with stage.bot(services) as bot:
        await stage.ada.clicks(BUTTON, on=await stage.asks(QUESTION))
        await mark_written(engine, stage.slack.team.id)
        await stage.ada.runs(WRITTEN, in_=stage.travel, saying="Added")
        await bot.slack.nightly.run()
        async with engine.begin() as connection:  # it died before it could write down that it was told
            await connection.execute(text("UPDATE wishes SET told_at = NULL"))
        await bot.slack.nightly.run()
        assert len(told(stage, stage.ada)) == 1


async def test_nobody_is_told_who_did_not_ask_to_be(stage: Stage, engine: AsyncEngine, services: Services) -> None:
    ben = stage.joins("Ben")
    async with stage.bot(services) as bot:
        answer = await stage.asks(QUESTION)
        await ben.clicks(BUTTON, on=answer)
        await ben.is_shown("Only the person who asked can be told", in_=stage.travel)
        await mark_written(engine, stage.slack.team.id)
        await stage.ada.runs(WRITTEN, in_=stage.travel, saying="Added")
        await bot.slack.nightly.run()
        assert await state_of(engine, stage.slack.team.id) == "fixed"
        assert told(stage, stage.ada) == told(stage, ben) == []


async def test_nothing_is_told_to_somebody_who_has_left_the_private_channel(
    stage: Stage, engine: AsyncEngine, services: Services
) -> None:
    ben = stage.slack.user("Ben")
    board = stage.slack.channel("board", members=[stage.ada, ben, stage.slack.bot], private=True)
    async with stage.bot(services) as bot:
        await stage.ada.clicks(BUTTON, on=await stage.asks(QUESTION, in_=board))
        await mark_written(engine, stage.slack.team.id)
        await ben.runs(WRITTEN, in_=board, saying="Added")
        board.members.remove(stage.ada.id)
        team = await bot.slack.teams.of(stage.slack.team.id)
        assert team
        team.directory.forget_person(stage.ada.id)
        await bot.slack.nightly.run()
        assert told(stage, stage.ada) == []


async def test_who_has_been_forgotten_is_not_told(stage: Stage, engine: AsyncEngine, services: Services) -> None:
    async with stage.bot(services) as bot:
        await stage.ada.clicks(BUTTON, on=await stage.asks(QUESTION))
        await mark_written(engine, stage.slack.team.id)
        await stage.ada.runs("/crag-forget everything", in_=stage.travel, saying="Forgotten")
        await stage.ada.runs(WRITTEN, in_=stage.travel, saying="Added")
        await bot.slack.nightly.run()
        assert told(stage, stage.ada) == []
        async with engine.connect() as connection:
            assert (await connection.execute(text("SELECT count(*) FROM wishes"))).scalar_one() == 0


async def written_by(author: str, bot: Bot, stage: Stage, engine: AsyncEngine) -> None:
    await bot.experts.correct(
        Correction(
            team=stage.slack.team.id,
            space="workspace",
            question="How long is leave?",
            answer="16 weeks.",
            author=author,
            author_name="Ada",
        )
    )
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE expert_answers SET review_at = now() - interval '1 day'"))


def asked(stage: Stage, person: Person) -> list[Message]:
    return [message for message in stage.slack.messages(person.dm) if "Is this still right?" in message.screen]


async def test_an_author_is_asked_once_and_confirms_or_removes_with_one_click(
    stage: Stage, engine: AsyncEngine, services: Services
) -> None:
    async with stage.bot(services) as bot:
        await written_by(stage.ada.id, bot, stage, engine)
        await bot.slack.nightly.run()
        await bot.slack.nightly.run()
        (message,) = asked(stage, stage.ada)
        await stage.ada.clicks("Still right", on=message)
        await stage.slack.until(lambda: "keeps its answer" in stage.slack.messages(stage.ada.dm)[-1].screen)
        await bot.slack.nightly.run()
        assert asked(stage, stage.ada) == []

        await written_by(stage.ada.id, bot, stage, engine)
        await bot.slack.nightly.run()
        (message,) = asked(stage, stage.ada)
        await stage.ada.clicks("Remove it", on=message)
        await stage.slack.until(lambda: "It is removed" in stage.slack.messages(stage.ada.dm)[-1].screen)
        assert await bot.experts.listed(team=stage.slack.team.id) == ()


async def test_where_the_author_is_not_reached_the_admins_are_asked(
    stage: Stage, engine: AsyncEngine, services: Services
) -> None:
    ben = stage.joins("Ben")
    async with stage.bot(services, Options(admins=frozenset({ben.id}))) as bot:
        await written_by("U0GONE", bot, stage, engine)
        await bot.slack.nightly.run()
        (message,) = asked(stage, ben)
        await ben.clicks("Still right", on=message)
        await stage.slack.until(lambda: "keeps its answer" in stage.slack.messages(ben.dm)[-1].screen)
