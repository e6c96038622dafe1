"""What a team may spend on models in a day: admins are warned once, and then answers are quoted."""

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.domain import ModelCall
from crag_graph.services import Services
from tests.fakes.services import ScriptedEvaluator, ScriptedWriter
from tests.scenarios.slack.bot import Options, Stage, scripted
from tests.slack_workspace import Message, Person

USED_UP = "budget for models is used up"
NEARLY = "Four fifths of today's budget"


def spending(tokens: int) -> Services:
    """A judge that takes so many tokens a question, half for judging passages and half for strips."""
    call = ModelCall(role="evaluate", model="judge", prompt_tokens=tokens // 2)
    return scripted(evaluator=ScriptedEvaluator(scores={"weeks": 0.9}, calls=(call,)))


def frugal() -> Services:
    return scripted(writer=ScriptedWriter(quoted=True))


def warnings(stage: Stage, admin: Person) -> list[Message]:
    return [one for one in stage.slack.messages(admin.dm) if NEARLY in one.screen]


@pytest.fixture
def options(stage: Stage) -> Options:
    return Options(http=True, tokens=1_000, frugal=frugal(), admins=frozenset({stage.ada.id}))


async def test_admins_are_warned_once_and_then_answers_are_quoted_until_the_day_ends(
    stage: Stage, engine: AsyncEngine, options: Options
) -> None:
    bob = stage.joins("Bob")
    async with stage.bot(spending(500), options):
        await stage.asks("@bot How many weeks?", by=bob)
        assert warnings(stage, stage.ada) == []
        second = await stage.asks("@bot How many weeks, again?", by=bob)
        assert USED_UP not in second.screen
        await stage.slack.until(lambda: warnings(stage, stage.ada))
        third = await stage.asks("@bot How many weeks now?", by=bob)
        assert USED_UP in third.screen
        assert "Quoted from the sources" in third.screen
        await stage.slack.quiet()
        assert len(warnings(stage, stage.ada)) == 1
        assert warnings(stage, bob) == []

        async with engine.begin() as connection:
            await connection.execute(text("UPDATE runs SET started_at = started_at - interval '1 day'"))
        assert USED_UP not in (await stage.asks("@bot How many weeks today?", by=bob)).screen


async def test_the_budget_of_the_day_outlives_the_process(stage: Stage, options: Options) -> None:
    async with stage.bot(spending(2_000), options):
        await stage.asks("@bot How many weeks?")
        await stage.slack.until(lambda: warnings(stage, stage.ada))
    async with stage.bot(spending(2_000), options):
        assert USED_UP in (await stage.asks("@bot How many weeks?")).screen
        await stage.slack.quiet()
        assert len(warnings(stage, stage.ada)) == 1
