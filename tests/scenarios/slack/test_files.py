"""Files that come with a question are asked at once, and are the conversation's alone."""

from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.models.chat_extractive import ExtractiveWriter
from crag_graph.services import Services
from tests.fakes.services import ScriptedEvaluator, ScriptedWeb
from tests.scenarios.slack.bot import Bot, Stage
from tests.scenarios.slack.files import KEEP, OFFER, RULES, asks, names_in, offer, reading_services
from tests.slack_workspace import Message
from tests.slack_workspace.world import Conversation


@pytest.fixture
def services(engine: AsyncEngine) -> Services:
    return reading_services(engine)


async def test_a_question_with_a_file_is_answered_from_the_file_which_is_cited_by_its_name(
    stage: Stage, services: Services
) -> None:
    async with stage.bot(services) as bot:
        await stage.ada.runs(RULES, in_=stage.travel, saying="Added")
        asked = await asks(stage, "@bot What does the train cost?", offer(stage))
        assert "The train to Oslo costs 310 euros." in asked.reply.screen
        assert "hotel" not in asked.reply.screen, "the files are asked alone"
        assert "Answered from the files" in asked.reply.screen
        assert "[1] offer.md" in asked.reply.screen
        assert KEEP in asked.reply.buttons
        assert await names_in(bot, asked.question) == ["offer.md"]
        assert [document.title for document in await bot.library.documents()] == ["Rules"]
    assert isinstance(services.web, ScriptedWeb)
    assert services.web.queries == []


@pytest.mark.parametrize("place", ["channel", "thread", "dm", "private"])
async def test_files_are_asked_wherever_a_question_may_stand(bot: Bot, stage: Stage, place: str) -> None:
    lounge = stage.slack.channel("lounge", members=[stage.ada, stage.slack.bot], private=True)
    root = await stage.ada.says("Where do we go?", in_=stage.travel)
    places: dict[str, Conversation | Message] = {
        "channel": stage.travel,
        "thread": root,
        "dm": stage.ada.dm,
        "private": lounge,
    }
    where = places[place]
    text = "What does it cost?" if place == "dm" else "@bot What does it cost?"
    asked = await asks(stage, text, offer(stage), in_=where)
    assert "310 euros" in asked.reply.screen
    assert asked.reply.root == asked.question.root


async def test_follow_ups_find_the_file_beside_what_they_see_as_always_and_nobody_elsewhere_does(
    bot: Bot, stage: Stage
) -> None:
    bob = stage.joins("Bob")
    asked = await asks(stage, "@bot What does the train cost?", offer(stage))
    await stage.ada.runs(RULES, in_=stage.travel, saying="Added")
    follow_up = await stage.asks("@bot What do train and hotel cost?", in_=asked.question, by=bob)
    assert "310 euros" in follow_up.screen
    assert "90 euros" in follow_up.screen
    assert "Answered from your documents" in follow_up.screen
    assert KEEP not in follow_up.buttons

    elsewhere = await stage.asks("@bot What does the train cost?", by=bob)
    assert "310 euros" not in elsewhere.screen
    direct = await stage.asks("What does the train cost?", in_=bob.dm, by=bob)
    assert "310 euros" not in direct.screen
    private = await stage.ada.runs("/crag-ask What does the train cost?", in_=stage.travel, saying="euros")
    assert "310 euros" not in private.screen
    assert "offer.md" not in (await stage.ada.runs("/crag-ingest list", in_=stage.travel)).screen
    assert "offer.md" not in (await stage.ada.opens_home()).screen
    await stage.ada.opens_messages_tab()
    await stage.slack.until(lambda: stage.slack.prompts(stage.ada.dm))
    assert "offer" not in str(stage.slack.prompts(stage.ada.dm))


async def test_an_answer_that_is_private_keeps_its_file_to_its_asker(stage: Stage, services: Services) -> None:
    bob = stage.joins("Bob")
    async with stage.bot(services) as bot:
        settings = await bot.channels.of(stage.slack.team.id, stage.travel.id)
        await bot.channels.save(
            stage.slack.team.id, stage.travel.id, replace(settings, private_first=True), by=stage.ada.id
        )
        question = await stage.ada.says("@bot What does the train cost?", in_=stage.travel, files=[offer(stage)])
        told = await stage.ada.is_shown("310 euros", in_=stage.travel)
        assert told.is_private
        await bob.says("@bot What does the train cost?", in_=question)
        other = await bob.is_shown("web", in_=stage.travel)
        assert "310 euros" not in other.screen
        await stage.ada.says("@bot And what does the train cost?", in_=question)
        await stage.slack.until(
            lambda: sum("310 euros" in stage.slack.message(post).screen for post in stage.travel.shown) == 2
        )


async def test_what_cannot_be_read_is_named_with_its_reason_and_the_rest_is_answered(bot: Bot, stage: Stage) -> None:
    picture = stage.ada.file("map.png", b"\x89PNG\r\n", "image/png")
    empty = stage.ada.file("empty.txt", b"")
    fake = stage.ada.file("fake.pdf", b"no pdf", "application/pdf")
    away = stage.ada.file("away.md", b"# Away")
    away.external = True
    asked = await asks(stage, "@bot What does the train cost?", picture, offer(stage), empty, fake, away)
    screen = asked.reply.screen
    assert "310 euros" in screen
    assert "I could not read “map.png”. Files of this kind are not supported." in screen
    assert "I could not read “empty.txt”. There is no text in it. The file is empty." in screen
    assert "I could not read “fake.pdf”. The file is damaged" in screen
    assert "I could not read “away.md”. away.md lies with another service." in screen


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [("deleted", "The file is gone"), ("scope", "the app lacks files:read"), ("403", "does not give it.md away")],
)
async def test_where_no_file_can_be_read_nothing_is_answered_from_elsewhere(
    bot: Bot, stage: Stage, trouble: str, reason: str
) -> None:
    await stage.ada.runs(RULES, in_=stage.travel, saying="Added")
    file = stage.ada.file("it.md", OFFER)
    if trouble == "deleted":
        file.deleted = True
    elif trouble == "scope":
        stage.slack.admin.takes_scope("files:read")
    else:
        stage.slack.faults.next("file_download", status=403)
    asked = await asks(stage, "@bot What does it cost?", file)
    assert "I could not read “it.md”." in asked.reply.screen
    assert reason in asked.reply.screen
    assert "So I have not looked for an answer." in asked.reply.screen
    assert "euros" not in asked.reply.screen
    assert KEEP not in asked.reply.buttons


async def test_a_file_without_a_question_is_read_and_asked_about(bot: Bot, stage: Stage) -> None:
    asked = await asks(stage, "@bot", offer(stage))
    assert "I have read “offer.md”. What do you want to know?" in asked.reply.screen
    assert asked.reply.buttons == (KEEP,)
    follow_up = await stage.asks("What does the train cost?", in_=asked.question)
    assert "310 euros" in follow_up.screen
    assert await bot.library.documents() == ()


async def test_a_file_that_nobody_mentions_the_bot_with_is_for_the_others(bot: Bot, stage: Stage) -> None:
    question = await stage.ada.says("@bot What does it cost?", in_=stage.travel)
    await stage.slack.reply_to(question)
    await stage.ada.says("", in_=question, files=[offer(stage)])
    await stage.slack.quiet()
    assert len(stage.slack.replies(question)) == 1


async def test_a_summary_is_how_the_file_begins(stage: Stage, engine: AsyncEngine) -> None:
    text = "# Plan\n\n" + "\n\n".join(
        f"## Day {n}\n\nOn day {n} we walk {n} miles. We sleep well." for n in range(1, 40)
    )
    quoting = reading_services(engine, evaluator=ScriptedEvaluator(), writer=ExtractiveWriter())
    async with stage.bot(quoting):
        asked = await asks(stage, "@bot summarise this", offer(stage, "plan.md", text.encode()))
        assert "On day 1 we walk 1 miles." in asked.reply.screen
        assert "day 39" not in asked.reply.screen
        assert "Quoted from the sources, word for word." in asked.reply.screen
        assert "This is from the beginning." in asked.reply.screen
        assert "Search the web too" not in asked.reply.buttons
        bare = await asks(stage, "@bot", offer(stage), offer(stage, "plan.md", text.encode()))
        assert "I have read these files: “offer.md”, “plan.md”." in bare.reply.screen
        both = await stage.asks("Summarise them", in_=bare.question)
        assert "310 euros" in both.screen
        assert "On day 1" in both.screen


async def test_what_the_files_do_not_say_is_said_and_the_web_is_one_press_away(bot: Bot, stage: Stage) -> None:
    asked = await asks(stage, "@bot Who won the game?", offer(stage, "weather.md", b"It rains in Bergen."))
    assert "The files do not answer this, and I looked nowhere else." in asked.reply.screen
    assert "Tell me when you know" not in asked.reply.buttons
    assert KEEP in asked.reply.buttons
    await stage.ada.clicks("Search the web too", on=asked.reply)
    again = await stage.slack.reply_to(asked.question, saying="280 euros")
    assert "answered from the web" in again.screen
    assert KEEP in again.buttons


async def test_files_that_answer_in_part_are_told_from_the_library(bot: Bot, stage: Stage) -> None:
    asked = await asks(stage, "@bot How do I go?", offer(stage, "trams.md", b"There are trams."))
    assert "The files only partly cover this" in asked.reply.screen
    assert "The files answer this only in part, and I looked nowhere else" in asked.reply.screen
    await stage.ada.clicks("Ask again", on=asked.reply)
    again = await stage.slack.reply_to(asked.question, until=lambda one: one.ts > asked.reply.ts)
    assert "The files only partly cover this" in again.screen


async def test_of_a_long_file_the_beginning_is_read_and_the_answer_says_so(bot: Bot, stage: Stage) -> None:
    text = "".join(f"## Rule {n}\n\nThing {n} costs {n} euros.\n\n" for n in range(1, 351))
    asked = await asks(stage, "@bot What costs 3 euros?", offer(stage, "prices.md", text.encode()), offer(stage))
    assert "Of “prices.md” I have read the first 300 passages of 350" in asked.reply.screen
    assert "I could not read “offer.md”. The files before it are so long that I stopped there." in asked.reply.screen
    await stage.ada.clicks(KEEP, on=asked.reply)
    modal = await stage.ada.sees_modal(KEEP)
    await stage.ada.submits(modal)
    told = await stage.slack.reply_to(asked.question, saying="Added prices.md", within=30)
    assert "passages: 350" in told.screen
    assert await names_in(bot, asked.question) == []


async def test_no_more_than_ten_files_are_read(bot: Bot, stage: Stage) -> None:
    files = [offer(stage, f"file-{n}.md", f"Thing {n} costs {n} euros.".encode()) for n in range(12)]
    asked = await asks(stage, "@bot What does it cost?", *files)
    assert "I could not read “file-10.md”. More than 10 files in one message are not read." in asked.reply.screen
    assert len(await names_in(bot, asked.question)) == 10
