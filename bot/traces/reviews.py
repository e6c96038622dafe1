"""What admins decide about an answer: each judgement is kept, and the newest one counts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, get_args

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cleaning import clean_all
from bot.traces.tables import gap_runs, reviews, runs
from crag_graph.domain import Verdict

Rating = Literal["good", "wrong", "incomplete"]

LONGEST_TEXT = 20_000
"""Characters of a note, or of the answer as it should have been."""
MOST_PASSAGES = 200


class ReviewError(ValueError):
    """The judgement cannot be stored; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Review:
    """What an admin says about a trace; what is empty is not judged.

    `verdict`: as it should have been. `answer`: as it should have been. `passages`: by id, whether the passage
    is relevant to the question.
    """

    rating: Rating | None = None
    verdict: str | None = None
    answer: str = ""
    passages: Mapping[str, bool] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        if self.rating is not None and self.rating not in get_args(Rating):
            raise ReviewError(f"{self.rating!r} is no rating: good, wrong or incomplete.")
        if self.verdict is not None and self.verdict not in set(Verdict):
            raise ReviewError(f"{self.verdict!r} is no verdict: correct, ambiguous or incorrect.")
        if max(len(self.answer), len(self.note)) > LONGEST_TEXT:
            raise ReviewError(f"A text of a review has at most {LONGEST_TEXT:,} characters. Shorten it.")
        if len(self.passages) > MOST_PASSAGES:
            raise ReviewError(f"A review judges at most {MOST_PASSAGES} passages.")
        if not (self.rating or self.verdict or self.passages or self.answer.strip() or self.note.strip()):
            raise ReviewError("The review says nothing. Judge the answer, the verdict or a passage, or write a note.")


async def add_review(engine: AsyncEngine, review: Review, *, team: str | None, trace: str, reviewer: str) -> bool:
    """Stores a judgement beside the earlier ones; False where the team (None: any team) has no such trace."""
    which = [runs.c.id == trace, runs.c.erased_at.is_(None), *([runs.c.team == team] if team else [])]
    async with engine.begin() as connection:
        # The row of the run is locked: of two reviews at once, the one that is stored later also counts as the later.
        found = await connection.execute(select(runs.c.team).where(*which).with_for_update())
        its_team = found.scalar_one_or_none()
        if its_team is None:
            return False
        row = clean_all(asdict(review)) | {"run": trace, "reviewer": reviewer, "team": its_team}
        await connection.execute(insert(reviews).values(**row, reviewed_at=func.clock_timestamp()))
        if review.rating:
            await connection.execute(update(runs).where(runs.c.id == trace).values(review=review.rating))
        if review.rating == "good":
            await connection.execute(delete(gap_runs).where(gap_runs.c.run == trace))
    return True
