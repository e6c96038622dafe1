"""People are spoken to in their language: that of their question, else that of their Slack."""

import pytest

from bot.slack import words
from bot.slack.listeners.keeping import TOO_LATE
from bot.slack.views.blocks import VERDICTS
from bot.slack.views.home import ABOUT
from bot.slack.views.offers import LABELS, Offer
from bot.slack.views.settings import TITLE
from crag_graph.domain import Abstention, Verdict
from crag_graph.nodes.abstain import TEXTS
from crag_graph.phrases import speaking
from tests.fakes.services import ScriptedEvaluator
from tests.scenarios.slack.bot import Bot, Stage, scripted

QUESTIONS = {
    "de": "Wie viele Wochen Elternzeit bekomme ich?",
    "fr": "Combien de semaines de congé est-ce que j'ai ?",
    "es": "¿Cuántas semanas de permiso tengo?",
    "pt": "Quantas semanas de licença eu tenho?",
    "ja": "育児休暇は何週間ですか。",
}


@pytest.mark.parametrize("language", QUESTIONS)
async def test_a_question_is_answered_in_its_language_whatever_the_askers_slack(
    either: Bot, stage: Stage, language: str
) -> None:
    reply = await stage.asks(f"@bot {QUESTIONS[language]}")
    with speaking(language):
        assert VERDICTS[Verdict.CORRECT]() in reply.screen
        assert words.HOW() in reply.screen
        assert LABELS[Offer.AGAIN]() in reply.screen
    assert VERDICTS[Verdict.CORRECT]() not in reply.screen


@pytest.mark.parametrize("language", QUESTIONS)
async def test_an_abstention_says_why_in_the_language_of_the_question(stage: Stage, language: str) -> None:
    async with stage.bot(scripted(evaluator=ScriptedEvaluator())):
        reply = await stage.asks(f"@bot {QUESTIONS[language]}")
    with speaking(language):
        assert any(TEXTS[abstention]()[:30] in reply.screen for abstention in Abstention)


async def test_what_tells_no_language_is_answered_in_that_of_the_askers_slack(bot: Bot, stage: Stage) -> None:
    emil = stage.joins("Emil", locale="de-DE")
    reply = await stage.asks("@bot parental leave?", by=emil)
    with speaking("de"):
        assert VERDICTS[Verdict.CORRECT]() in reply.screen


async def test_windows_tabs_and_commands_speak_the_language_of_whoever_opens_them(either: Bot, stage: Stage) -> None:
    yuki, ada = stage.joins("Yuki", locale="ja-JP"), stage.ada
    with speaking("ja"):
        title, about, help_ = TITLE(), ABOUT().splitlines()[0].replace("*", ""), words.NOT_ADMIN()
    modal = await yuki.opens("/crag-settings", in_=stage.travel, title=title)
    assert modal.title == title
    assert about.split("。")[0][:20] in (await yuki.opens_home()).screen
    refused = await yuki.runs("/crag-traces", in_=stage.travel)
    assert help_.replace("`", "") in refused.screen.replace("`", "")
    assert (await ada.opens("/crag-settings", in_=stage.travel, title=TITLE())).title == TITLE()


async def test_a_press_is_answered_in_the_language_of_the_question_that_it_is_about(bot: Bot, stage: Stage) -> None:
    question = await stage.ada.says(f"@bot {QUESTIONS['de']}", in_=stage.travel)
    first = await stage.slack.reply_to(question)
    with speaking("de"):
        again, verdict = LABELS[Offer.AGAIN](), VERDICTS[Verdict.CORRECT]()
    await stage.ada.clicks(again, on=first)
    await stage.slack.until(lambda: [one for one in stage.slack.replies(question)[1:] if verdict in one.screen])


async def test_a_shortcut_is_named_as_slacks_menu_has_it(bot: Bot, stage: Stage) -> None:
    emil = stage.joins("Emil", locale="de-DE")
    message = await stage.ada.says("The coffee machine is on the second floor.", in_=stage.travel)
    stage.slack.faults.next("views.open", error="expired_trigger_id")
    await emil.uses_shortcut("Add to library", on=message)
    with speaking("de"):
        told = TOO_LATE(name="Add to library")
    await emil.is_shown(told, in_=stage.travel)
