from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.answering import Answering
from bot.forgetting import Tidied, tidy
from bot.memory import Memory
from bot.traces.reading import Filter, list_traces
from bot.traces.recorder import Recorder
from tests.bot.conftest import question, quietly


async def test_texts_older_than_the_retention_go_figures_stay_and_0_days_keep_everything(
    answering: Answering, memory: Memory, engine: AsyncEngine
) -> None:
    await answering.answer(question(), quietly)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE runs SET started_at = started_at - interval '40 days'"))
    recorder = Recorder(engine, keep_texts=False, settings="", version="")
    assert await tidy(memory, recorder, days=0) == Tidied(conversations=0, traces=0)
    assert await tidy(memory, recorder, days=60) == Tidied(conversations=0, traces=0)
    assert await tidy(memory, recorder, days=30) == Tidied(conversations=0, traces=1)
    assert await tidy(memory, recorder, days=30) == Tidied(conversations=0, traces=0)
    (run,) = (await list_traces(engine, Filter())).runs
    assert (run["question"], run["answer"], run["asker"], run["verdict"]) == ("", "", "", "correct")
