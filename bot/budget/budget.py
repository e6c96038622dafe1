"""How much of a day's budget a team has spent on models, counted by what its traces tell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.budget.tables import budget_warnings
from bot.prices import Price, cost
from bot.traces.tables import runs

WARNING = 0.8
"""Share of the budget from which on admins are warned."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """`tokens` and `dollars` of a team in a day (UTC); 0 is no bound. Dollars count where the price is known.

    What is running is not counted yet: questions that are answered at the same time may go a little beyond.
    """

    engine: AsyncEngine
    tokens: float = 0.0
    dollars: float = 0.0
    prices: Mapping[str, Price] = field(default_factory=dict)
    now: Callable[[], datetime] = _now

    async def spent(self, team: str) -> float:
        """As a share of the budget: 1 where it is used up, 0 where there is none. Raises SQLAlchemyError."""
        if not (self.tokens or self.dollars):
            return 0.0
        day = self.now().replace(hour=0, minute=0, second=0, microsecond=0)
        used = (
            select(runs.c.model, func.sum(runs.c.prompt_tokens), func.sum(runs.c.completion_tokens))
            .where(runs.c.team == team, runs.c.started_at >= day)
            .group_by(runs.c.model)
        )
        async with self.engine.connect() as connection:
            rows = (await connection.execute(used)).all()
        tokens = sum(prompt + completion for _, prompt, completion in rows)
        dollars = sum(cost(self.prices, model, prompt, completion) or 0.0 for model, prompt, completion in rows)
        shares = ((tokens, self.tokens), (dollars, self.dollars))
        return max(float(used) / bound for used, bound in shares if bound)

    async def is_to_be_told(self, team: str) -> bool:
        """True once a day and team, as soon as there is something to warn of: whoever asks first is to tell it."""
        if await self.spent(team) < WARNING:
            return False
        row = {"team": team, "day": self.now().date()}
        claimed = upsert(budget_warnings).values(row).on_conflict_do_nothing().returning(budget_warnings.c.team)
        async with self.engine.begin() as connection:
            return (await connection.execute(claimed)).first() is not None
