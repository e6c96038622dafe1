"""Whoever asks too much is told once, and when there is room again; others are not held up."""

import asyncio

import pytest

from tests.scenarios.slack.bot import Options, Stage

FULL = "I take no more for now"


async def test_who_asks_too_much_is_told_when_there_is_room_again_and_others_are_answered(stage: Stage) -> None:
    bob = stage.joins("Bob")
    async with stage.bot(options=Options(http=True, limits={"person": 2})):
        for _ in range(2):
            assert "16 weeks" in (await stage.asks("@bot How many weeks?")).screen
        refused = await stage.asks("@bot How many weeks?")
        assert FULL in refused.screen
        assert "UTC" in refused.post.text
        assert "16 weeks" in (await stage.asks("@bot How many weeks?", by=bob)).screen


@pytest.mark.parametrize("scope", ["channel", "team", "person"])
async def test_of_many_questions_at_once_no_more_are_answered_than_the_limit_allows(stage: Stage, scope: str) -> None:
    async with stage.bot(options=Options(http=True, limits={scope: 3})):
        replies = await asyncio.gather(*(stage.asks(f"@bot How many weeks, {n}?") for n in range(6)))
        assert sum("16 weeks" in reply.screen for reply in replies) == 3
        assert sum(FULL in reply.screen for reply in replies) == 3


async def test_the_count_outlives_the_process(stage: Stage) -> None:
    options = Options(http=True, limits={"team": 1})
    async with stage.bot(options=options):
        assert "16 weeks" in (await stage.asks("@bot How many weeks?")).screen
    async with stage.bot(options=options):
        assert FULL in (await stage.asks("@bot How many weeks?")).screen
