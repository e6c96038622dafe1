"""How much of the day's budget is spent."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.budget.budget import Budget
from bot.prices import Price

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def at_noon() -> datetime:
    return NOON


async def spend(engine: AsyncEngine, tokens: int, *, team: str = "T1", model: str = "m", when: datetime = NOON) -> None:
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO runs (id, team, state, model, prompt_tokens, completion_tokens, started_at)"
                " VALUES (gen_random_uuid()::text, :team, 'answered', :model, :tokens, 0, :when)"
            ),
            {"team": team, "model": model, "tokens": tokens, "when": when},
        )


async def test_the_tokens_of_the_team_and_the_day_count(engine: AsyncEngine) -> None:
    budget = Budget(engine=engine, tokens=1_000, now=at_noon)
    assert await budget.spent("T1") == 0
    await spend(engine, 300)
    await spend(engine, 200, model="other")
    await spend(engine, 9_000, team="T2")
    await spend(engine, 9_000, when=NOON.replace(day=1, month=11))
    assert await budget.spent("T1") == pytest.approx(0.5)


async def test_dollars_count_by_the_price_of_each_model_and_the_nearer_bound_decides(engine: AsyncEngine) -> None:
    prices = {"m": Price(prompt=1_000.0, completion=0.0)}
    await spend(engine, 600)
    await spend(engine, 600, model="without a price")
    budget = Budget(engine=engine, tokens=12_000, dollars=1.0, prices=prices, now=at_noon)
    assert await budget.spent("T1") == pytest.approx(0.6)


async def test_without_a_bound_nothing_is_ever_spent(engine: AsyncEngine) -> None:
    await spend(engine, 10_000)
    assert await Budget(engine=engine, now=at_noon).spent("T1") == 0


async def test_the_warning_of_a_day_and_team_is_given_to_one_who_asks(engine: AsyncEngine) -> None:
    budget = Budget(engine=engine, tokens=1_000, now=at_noon)
    await spend(engine, 790)
    assert not await budget.is_to_be_told("T1")
    await spend(engine, 10)
    assert [await budget.is_to_be_told("T1") for _ in range(3)] == [True, False, False]
    tomorrow = Budget(engine=engine, tokens=1_000, now=lambda: NOON.replace(day=2))
    await spend(engine, 900, when=NOON.replace(day=2))
    assert await tomorrow.is_to_be_told("T1")
