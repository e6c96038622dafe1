"""A question that was asked once, as it is asked again: with the conversation as it was then."""

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.questions import Question
from bot.traces.history import turn_of, turns_before
from bot.traces.reading import Row


async def question_again(engine: AsyncEngine, run: Row) -> Question:
    """It may see what the first run might see; no conversation remembers it, and it is erased with the first one's."""
    return Question(
        text=run["question"],
        conversation=run["conversation"],
        spaces=tuple(run["spaces"]),
        team=run["team"],
        channel=run["channel"],
        asker=run["asker"],
        permalink=run["permalink"],
        history=tuple(turn_of(turn) for turn in await turns_before(engine, run)),
        rerun_of=run["id"],
    )
