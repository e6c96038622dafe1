"""Files are slow, gone, hostile or taken back while they are read: each question gets one clear answer."""

from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.slack.replies.pace import Pace
from crag_graph.embedding import Vectors
from crag_graph.services import ModelBusyError, Services
from tests.scenarios.slack.bot import Bot, LetterEmbedder, Options, Stage, done
from tests.scenarios.slack.files import OFFER, asks, names_in, offer, reading_services, until_there_is
from tests.slack_workspace import Message


class Tired(LetterEmbedder):
    """Fails so many times first."""

    def __init__(self, times: int) -> None:
        self.times = times

    async def embed(self, texts: Any) -> Vectors:
        if self.times:
            self.times -= 1
            raise ModelBusyError
        return await super().embed(texts)


@pytest.fixture
def services(engine: AsyncEngine) -> Services:
    return reading_services(engine)


def is_reading(stage: Stage, question: Message) -> bool:
    """What is going on is said for all to see."""
    seen = [*stage.slack.session(question).statuses, *(one.screen for one in stage.slack.replies(question))]
    return any("Reading offer.md" in one for one in seen)


@pytest.fixture(params=["streamed", "edited"])
def pace(request: pytest.FixtureRequest) -> Pace:
    made = Pace(patience=0.05, append_every=0.05, edit_every=0.1, again_after=0.3)
    if request.param == "edited":
        made.streaming.close()
    return made


async def test_reading_is_seen_and_can_be_stopped(stage: Stage, services: Services, pace: Pace) -> None:
    stage.slack.faults.next("file_download", delay=30.0)
    async with stage.bot(services, Options(http=True, pace=pace)) as bot:
        question = await stage.ada.says("@bot What does it cost?", in_=stage.travel, files=[offer(stage)])
        await stage.slack.until(lambda: is_reading(stage, question))
        await stage.ada.stops(question)
        reply = await stage.slack.reply_to(question, saying="Stopped.")
        assert "310 euros" not in reply.screen
        assert await names_in(bot, question) == []


async def test_the_event_is_acknowledged_before_a_file_is_fetched(bot: Bot, stage: Stage) -> None:
    stage.slack.faults.next("file_download", delay=1.0)
    question = await stage.ada.says("@bot What does it cost?", in_=stage.travel, files=[offer(stage)])
    await stage.slack.until(lambda: all(event.ack for event in stage.slack.network.events_of(question)), within=0.9)
    stage.slack.network.redelivers(question, times=2)
    await stage.slack.reply_to(question, saying="310 euros")
    await stage.slack.quiet()
    assert len(stage.slack.replies(question)) == 1
    assert await names_in(bot, question) == ["offer.md"]


async def test_slack_that_is_away_for_a_moment_is_asked_again(bot: Bot, stage: Stage) -> None:
    stage.slack.faults.next("file_download", status=503)
    asked = await asks(stage, "@bot What does it cost?", offer(stage))
    assert "310 euros" in asked.reply.screen


async def test_a_file_that_slack_never_hands_out_is_left_and_the_others_are_asked(bot: Bot, stage: Stage) -> None:
    stage.slack.faults.next("file_download", status=503, times=3)
    asked = await asks(stage, "@bot What does it cost?", offer(stage, "lost.md"), offer(stage))
    assert "I could not read “lost.md”. Slack does not hand it out at the moment." in asked.reply.screen
    assert "310 euros" in asked.reply.screen


async def test_an_embedding_model_that_is_away_for_a_moment_costs_no_answer(stage: Stage, services: Services) -> None:
    async with stage.bot(services, Options(http=True, embedder=Tired(1))):
        question = await stage.ada.says("@bot What does it cost?", in_=stage.travel, files=[offer(stage)])
        await stage.slack.reply_to(question, saying="I will try again in")
        await stage.slack.reply_to(question, saying="310 euros")
        assert len(stage.slack.replies(question)) == 1


async def test_a_question_deleted_while_its_file_is_read_leaves_nothing(bot: Bot, stage: Stage) -> None:
    stage.slack.faults.next("file_download", delay=30.0, skip=1)
    question = await stage.ada.says("@bot What?", in_=stage.travel, files=[offer(stage), offer(stage, "second.md")])
    await until_there_is(bot, question, "offer.md")
    await stage.ada.deletes(question)
    await until_there_is(bot, question)
    await stage.slack.until(lambda: not stage.slack.replies(question))


async def test_a_conversation_forgotten_while_its_file_is_read_leaves_nothing(bot: Bot, stage: Stage) -> None:
    stage.slack.faults.next("file_download", delay=30.0, skip=1)
    question = await stage.ada.says("@bot What?", in_=stage.travel, files=[offer(stage), offer(stage, "second.md")])
    await until_there_is(bot, question, "offer.md")
    await stage.ada.runs("/crag-forget", in_=stage.travel, saying="Forgotten")
    assert await names_in(bot, question) == []


async def test_an_edited_question_is_asked_of_its_file_again(bot: Bot, stage: Stage) -> None:
    asked = await asks(stage, "@bot What does it cost?", offer(stage))
    await done(bot, asked.question)
    await stage.ada.edits(asked.question, "@bot What does the train cost?")
    offered = await stage.ada.is_shown("I can answer it as it reads now", in_=stage.travel)
    await stage.ada.clicks("Answer the edited question", on=offered)
    again = await stage.slack.reply_to(
        asked.question, saying="310 euros", until=lambda one: one.ts > asked.reply.ts and bool(one.buttons)
    )
    assert "Answered from the files" in again.screen
    assert await names_in(bot, asked.question) == ["offer.md"]


@pytest.mark.parametrize(
    "name",
    [
        "<!channel> *bold* `x`.md",
        "[click](https://evil.test).md",
        "@here & <@U1>.md",
        "a" * 240 + ".md",
        "\ud800\x00.md",
    ],
)
async def test_the_name_of_a_file_pings_nobody_and_hides_no_address(bot: Bot, stage: Stage, name: str) -> None:
    asked = await asks(stage, "@bot What does it cost?", offer(stage, name), stage.ada.file(f"{name}.png", b"\x89PNG"))
    bare = await asks(stage, "@bot", stage.ada.file(f"x{name}", OFFER))
    for reply in (asked.reply, bare.reply):
        assert reply.pings == frozenset()
        assert all(link.url == link.label or stage.slack.platform.host in link.url for link in reply.links)
    assert "310 euros" in asked.reply.screen
    assert "I could not read" in asked.reply.screen
    assert "I have read" in bare.reply.screen


async def test_a_long_wait_for_one_file_ends(stage: Stage, services: Services) -> None:
    """Two questions are asked at once; the file of one never comes."""
    stage.slack.faults.next("file_download", hang=True)
    async with stage.bot(services, Options(http=True)) as bot:
        slow = await stage.ada.says("@bot What does it cost?", in_=stage.travel, files=[offer(stage)])
        await stage.slack.until(lambda: is_reading(stage, slow))
        asked = await asks(stage, "@bot What does it cost?", offer(stage))
        assert "310 euros" in asked.reply.screen
        await stage.ada.stops(slow)
        await stage.slack.reply_to(slow, saying="Stopped.")
        assert await names_in(bot, slow) == []
