"""Many at once: nothing is held that others need, nothing is called that was not asked for, nothing private is logged."""

import asyncio
import io

from bot import logs
from tests.fakes.services import ScriptedWriter, trouble
from tests.scenarios.slack.bot import Options, Stage, scripted


async def test_slow_answers_hold_no_database_connection(stage: Stage) -> None:
    """Twenty answers wait for their model at once; five connections are enough for all of them."""
    services = scripted(writer=ScriptedWriter(trouble=trouble(generate=[1.0] * 20)))
    async with stage.bot(services, Options(http=True, at_once=20, pool_size=5)):
        loop = asyncio.get_running_loop()
        started = loop.time()
        questions = [await stage.ada.says(f"@bot How many weeks, {n}?", in_=stage.travel) for n in range(20)]
        for question in questions:
            await stage.slack.reply_to(question, within=30)
        assert loop.time() - started < 20, "they were not answered at once"


async def test_the_log_holds_no_text_and_no_token_even_at_debug(stage: Stage) -> None:
    log = io.StringIO()
    logs.configure("debug", stream=log)
    try:
        async with stage.bot():
            question = await stage.ada.says("@bot How many weeks for Rumpelstiltskin?", in_=stage.travel)
            await stage.slack.reply_to(question)
            stage.slack.faults.next("chat.postMessage", error="invalid_blocks")
            await stage.ada.says("And how many weeks for Rumpelstiltskin's son?", in_=question)
            await stage.ada.runs("/crag-ask How many weeks for Rumpelstiltskin?", in_=stage.travel, saying="16")
            await stage.ada.runs("/crag-ingest text Gold\nRumpelstiltskin spins.", in_=stage.travel)
            await stage.ada.is_shown("Added Gold", in_=stage.travel)
    finally:
        logs.configure("warning")
    assert '"event": "question"' in log.getvalue()
    for private in ("Rumpelstiltskin", "16 weeks of leave", stage.slack.bot_token, stage.slack.app_token):
        assert private not in log.getvalue()
