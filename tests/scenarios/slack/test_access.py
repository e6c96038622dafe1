"""A question sees what its place and its asker may see, and nothing else."""

import pytest

from crag_graph.domain import Passage
from crag_graph.services import Services
from tests.fakes.services import ScriptedEvaluator, ScriptedLibrary, ScriptedWeb, ScriptedWriter, passage
from tests.scenarios.slack.bot import Options, Stage, scripted


def secret(place: str) -> Passage:
    return passage(f"In {place} it is 16 weeks.", title=f"Rules of {place}")


@pytest.fixture
def services(stage: Stage) -> Services:
    """A library with one document for everybody, one of #travel, one of Ada's direct messages."""
    team = stage.slack.team.id
    spaces = {
        "workspace": [secret("workspace")],
        f"{team}:{stage.travel.id}": [secret("travel")],
        f"{team}:{stage.ada.dm.id}": [secret("diary")],
    }
    return scripted(library=ScriptedLibrary(spaces=spaces), web=ScriptedWeb(available=False))


def seen(reply_screen: str) -> set[str]:
    return {place for place in ("workspace", "travel", "diary") if f"In {place} it is" in reply_screen}


async def test_each_place_sees_its_own_documents_and_those_for_everybody(stage: Stage, services: Services) -> None:
    other = stage.slack.channel("other", members=[stage.ada, stage.slack.bot])
    async with stage.bot(services, Options(http=True)):
        assert seen((await stage.asks("@bot How many weeks?")).screen) == {"workspace", "travel"}
        assert seen((await stage.asks("How many weeks?", in_=stage.ada.dm)).screen) == {"workspace", "diary"}
        assert seen((await stage.asks("@bot How many weeks?", in_=other)).screen) == {"workspace"}


async def test_guests_and_strangers_see_the_channels_own_documents_alone(stage: Stage, services: Services) -> None:
    guest, stranger = stage.joins("Gus", guest=True), stage.joins("Sam", stranger=True)
    async with stage.bot(services, Options(http=True)):
        for person in (guest, stranger):
            question = await person.says(f"<@{stage.slack.bot.id}> How many weeks?", in_=stage.travel, as_typed=False)
            assert seen((await stage.slack.reply_to(question)).screen) == {"travel"}


async def test_in_a_channel_that_is_shared_nobody_is_answered_from_what_is_for_everybody(
    stage: Stage, services: Services
) -> None:
    stage.travel.shared = True
    async with stage.bot(services, Options(http=True)):
        assert seen((await stage.asks("@bot How many weeks?")).screen) == {"travel"}


async def test_a_channel_that_becomes_shared_is_noticed_at_once(stage: Stage, services: Services) -> None:
    async with stage.bot(services, Options(http=True)):
        assert seen((await stage.asks("@bot How many weeks?")).screen) == {"workspace", "travel"}
        stage.travel.shared = True
        told = stage.slack.network.sends({"type": "channel_shared", "channel": stage.travel.id, "event_ts": "1.1"})
        await stage.slack.until(lambda: told.ack)
        assert seen((await stage.asks("@bot How many weeks?")).screen) == {"travel"}


async def test_a_private_question_sees_what_the_place_sees_where_it_is_asked(stage: Stage, services: Services) -> None:
    async with stage.bot(services, Options(http=True)):
        reply = await stage.ada.runs("/crag-ask How many weeks?", in_=stage.travel, saying="16 weeks")
        assert seen(reply.screen) == {"workspace", "travel"}
        hidden = stage.slack.channel("board", members=[stage.ada], private=True)
        reply = await stage.ada.runs("/crag-ask How many weeks?", in_=hidden)
        assert "diary" not in reply.screen


async def test_an_asker_whom_slack_no_longer_knows_sees_the_place_alone(stage: Stage, services: Services) -> None:
    async with stage.bot(services, Options(http=True)):
        stage.slack.faults.next("users.info", error="user_not_found", times=None)
        assert seen((await stage.asks("@bot How many weeks?")).screen) == {"travel"}


async def test_sources_of_one_turn_are_not_those_of_the_turn_before(stage: Stage) -> None:
    first, second = (passage(f"The {word} is 16 weeks.", title=f"About {word}") for word in ("first", "second"))

    def answer_from_last(brief: object) -> str:
        return "It is 16 weeks [1]."

    library = ScriptedLibrary(spaces={"workspace": [first]})
    services = scripted(
        library=library,
        evaluator=ScriptedEvaluator(scores={"weeks": 0.9}),
        writer=ScriptedWriter(answer=answer_from_last),
    )
    async with stage.bot(services, Options(http=True)):
        question = await stage.ada.says("@bot How long is the first?", in_=stage.travel)
        assert "[1] About first" in (await stage.slack.reply_to(question)).screen
        library.spaces = {"workspace": [second]}
        follow_up = await stage.ada.says("And the second?", in_=question)
        reply = await stage.slack.reply_to(follow_up)
        assert "[1] About second" in reply.screen
        assert "About first" not in reply.screen
