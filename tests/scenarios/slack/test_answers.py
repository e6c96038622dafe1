"""People ask in Slack, read the answer, follow up, and look behind it."""

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.slack import words
from crag_graph.services import LibraryError, ModelBusyError, Services
from tests.fakes.services import (
    ScriptedEvaluator,
    ScriptedLibrary,
    ScriptedWeb,
    ScriptedWriter,
    page,
    passage,
    trouble,
)
from tests.scenarios.slack.bot import BUTTONS, LEAVE, Bot, Stage, scripted


async def test_a_day_with_the_bot(either: Bot, stage: Stage) -> None:
    question = await stage.ada.says("@bot How long is parental leave?", in_=stage.travel)
    reply = await stage.slack.reply_to(question, saying="16 weeks")
    assert "Answered from your documents\n[1] Leave · internal" in reply.screen
    assert reply.buttons == BUTTONS
    assert reply.root == question.ts
    assert reply.pings == frozenset()

    follow_up = await stage.ada.says("And for adoption, how many weeks?", in_=question)
    await stage.slack.reply_to(follow_up, saying="16 weeks")

    assert (await stage.ada.clicks("Helpful", on=reply)).ok
    await stage.ada.is_shown("noted", in_=stage.travel)
    assert (await stage.ada.clicks("How I got here", on=reply)).ok
    modal = await stage.ada.sees_modal("How I got here")
    assert "it says “weeks”" in modal.screen
    assert "0.90 · kept" in modal.screen

    private = await stage.ada.runs("/crag-ask How long is parental leave?", in_=stage.travel, saying="16 weeks")
    assert private.is_private
    assert "Asked" not in private.screen
    home = await stage.ada.opens_home()
    assert "/crag-ask" in home.screen
    await stage.ada.opens_messages_tab()
    await stage.slack.until(lambda: stage.slack.prompts(stage.ada.dm))
    await stage.slack.quiet()
    assert len(stage.slack.replies(question)) == 2


async def test_it_answers_in_private_channels_direct_messages_and_groups(bot: Bot, stage: Stage) -> None:
    secret = stage.slack.channel("secret", members=[stage.ada, stage.slack.bot], private=True)
    await stage.asks("@bot How many weeks?", in_=secret)
    first = await stage.ada.says("How many weeks?", in_=stage.ada.dm)
    await stage.slack.reply_to(first, saying="16 weeks")
    second = await stage.ada.says("And for adoption?", in_=first)
    await stage.slack.reply_to(second)
    group = stage.slack.group_dm(stage.ada, stage.slack.user("Bob"))
    reply = await stage.asks("How many weeks?", in_=group)
    assert reply.buttons == BUTTONS


async def test_people_who_talk_to_each_other_are_not_interrupted(bot: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    await stage.slack.reply_to(question)
    await stage.ada.says("@Bob is that enough for you?", in_=question)
    await bob.says("Nice weather", in_=stage.travel)
    await stage.slack.quiet()
    assert len(stage.slack.replies(question)) == 1


async def test_what_people_said_in_between_helps_with_the_follow_up(bot: Bot, stage: Stage, services: Services) -> None:
    bob = stage.joins("Bob")
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    await stage.slack.reply_to(question)
    await bob.says("@Ada I mean my son that we *adopted* in <#C0NONE>", in_=question)
    await stage.asks("@bot and then how many weeks?", in_=question)
    writer = services.writer
    assert isinstance(writer, ScriptedWriter)
    assert writer.conversations[-1].chatter == ("Bob: @Ada I mean my son that we *adopted* in <#C0NONE>",)
    assert [turn["question"] for turn in writer.conversations[-1].turns] == ["How many weeks?"]


async def test_a_conversation_goes_on_after_a_restart(stage: Stage) -> None:
    services = scripted()
    async with stage.bot(services):
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        await stage.slack.reply_to(question)
    async with stage.bot(services):
        follow_up = await stage.ada.says("And the second one?", in_=question)
        await stage.slack.reply_to(follow_up)
    writer = services.writer
    assert isinstance(writer, ScriptedWriter)
    assert [turn["question"] for turn in writer.conversations[-1].turns] == ["How many weeks?"]


async def test_a_broadcast_reply_is_a_question(bot: Bot, stage: Stage) -> None:
    root = await stage.ada.says("Plans?", in_=stage.travel)
    shouted = await stage.ada.says("@bot How many weeks?", in_=root, also_to_channel=True)
    reply = await stage.slack.reply_to(shouted)
    assert reply.root == root.ts


async def test_tokens_in_a_question_are_read_as_words(bot: Bot, stage: Stage, services: Services) -> None:
    await stage.asks("@bot ask @Ada about #travel: is 1 < 2 & 3 > 2 in weeks?")
    library = services.library
    assert isinstance(library, ScriptedLibrary)
    assert library.queries == ["ask @Ada about #travel: is 1 < 2 & 3 > 2 in weeks?"]


HANDBOOK = passage("Parents get 16 weeks of leave.", title="Leave", link="https://handbook.test/leave")
NEWS = page("Since May it is 20 weeks elsewhere.", title="News", link="https://news.test/leave")


@pytest.mark.parametrize(
    ("score", "line", "sources"),
    [
        (0.9, "Answered from your documents", ["[1] Leave · internal"]),
        (
            0.5,
            "Your documents only partly cover this; completed from the web",
            ["[1] Leave · internal", "[2] News · web"],
        ),
        (0.1, "Not in your documents; answered from the web", ["[1] News · web"]),
    ],
)
async def test_the_verdict_and_the_sources_go_together(
    stage: Stage,
    score: float,
    line: str,
    sources: list[str],
) -> None:
    services = scripted(
        library=ScriptedLibrary(spaces={"workspace": [HANDBOOK]}),
        evaluator=ScriptedEvaluator(scores={"16 weeks": score}),
        web=ScriptedWeb(pages=[NEWS]),
    )
    async with stage.bot(services):
        reply = await stage.asks("@bot How many weeks?")
        assert "\n".join([line, *sources]) in reply.screen
        await stage.ada.clicks("How I got here", on=reply)
        modal = await stage.ada.sees_modal()
        assert ("Searched for: scripted keywords" in modal.screen) == (score < 0.7)


async def test_nothing_found_says_so_and_what_to_do(stage: Stage) -> None:
    services = scripted(library=ScriptedLibrary(spaces={}), web=ScriptedWeb(available=False))
    async with stage.bot(services):
        reply = await stage.asks("@bot How many weeks?")
    assert "web search is off here" in reply.screen
    assert "Add a document" in reply.screen
    assert "Answered" not in reply.screen
    assert reply.buttons == ("How I got here", "Ask again", "Tell me when you know", "Helpful", "Not helpful")


async def test_what_may_not_be_used_here_is_told_apart_from_what_nobody_knows(stage: Stage) -> None:
    library = ScriptedLibrary(spaces={f"{stage.slack.team.id}:{stage.ada.dm.id}": [LEAVE]})
    services = scripted(library=library, web=ScriptedWeb(available=False))
    async with stage.bot(services):
        reply = await stage.asks("@bot How many weeks?")
        assert "cannot be used here" in reply.screen
        assert "16 weeks" not in reply.screen
        assert "16 weeks" in (await stage.asks("How many weeks?", in_=stage.ada.dm)).screen
        bob = stage.joins("Bob")
        other = await stage.asks("@bot How many weeks?", by=bob)
        assert "cannot be used here" not in other.screen


@pytest.mark.parametrize("typed", ["@bot", "@bot  ", "@bot :thumbsup:", "@bot 👍", "@bot \u200b\ufeff", "@bot ???"])
async def test_a_message_without_words_gets_a_hint(bot: Bot, stage: Stage, typed: str) -> None:
    reply = await stage.asks(typed)
    assert reply.screen == words.HINT()


@pytest.mark.parametrize(
    "typed",
    [
        "@bot كم عدد أسابيع الإجازة؟ weeks",
        "@bot wee\u200bks\x00 of \ud800leave?",
        "@bot ```SELECT 1; -- weeks```",
        "@bot &lt;!channel&gt; weeks",
        "@bot " + "weeks " * 6_000,
    ],
)
async def test_odd_questions_are_answered_and_harm_nobody_after_them(bot: Bot, stage: Stage, typed: str) -> None:
    question = (
        await stage.ada.says(typed, in_=stage.travel, as_typed=False)
        if "<" in typed
        else await stage.ada.says(typed, in_=stage.travel)
    )
    reply = await stage.slack.reply_to(question, saying="16 weeks")
    assert reply.pings == frozenset()
    for _ in range(2):
        follow_up = await stage.ada.says("@bot and how many weeks?", in_=question)
        await stage.slack.reply_to(follow_up, saying="16 weeks")


async def test_a_question_that_is_too_long_is_told_its_limit(bot: Bot, stage: Stage) -> None:
    reply = await stage.asks("@bot " + "w" * 40_000)
    assert "fewer than 40,000 are possible" in reply.screen


async def test_what_a_document_says_pings_nobody_and_leads_nowhere_else(stage: Stage) -> None:
    hostile = passage(
        "In weeks: <!channel> <!here> <@U0ADA> <!subteam^S1> @channel <https://evil.test|our handbook> "
        "[our handbook](https://evil.test)\n[1]: https://evil.test",
        title="<!here> [Leave](https://evil.test) <https://evil.test|x>",
        link="https://handbook.test/a(b) c",
    )
    services = scripted(library=ScriptedLibrary(spaces={"workspace": [hostile]}))
    async with stage.bot(services):
        reply = await stage.asks("@bot How many weeks?")
        assert reply.pings == frozenset()
        assert all(link.label == link.url for link in reply.links)
        assert "<!channel> <!here>" in reply.screen.replace("\u200b", "")
        await stage.ada.clicks("How I got here", on=reply)
        assert "<!here> [Leave]" in (await stage.ada.sees_modal()).screen


async def test_feedback_is_stored_with_the_answer_and_may_change(bot: Bot, stage: Stage, engine: AsyncEngine) -> None:
    reply = await stage.asks("@bot How many weeks?")
    for label in ("Helpful", "Not helpful"):
        assert (await stage.ada.clicks(label, on=reply)).ok
    async with engine.connect() as connection:
        rows = (await connection.execute(text("SELECT person, helpful FROM feedback"))).all()
    assert [tuple(row) for row in rows] == [(stage.ada.id, False)]


async def test_guests_do_not_look_behind_the_answers_of_others(bot: Bot, stage: Stage) -> None:
    guest = stage.joins("Gus", guest=True)
    reply = await stage.asks("@bot How many weeks?")
    await guest.clicks("How I got here", on=reply)
    assert "members of the workspace alone" in (await guest.sees_modal()).screen


async def test_a_button_whose_trigger_is_too_old_says_to_press_again(bot: Bot, stage: Stage) -> None:
    reply = await stage.asks("@bot How many weeks?")
    stage.slack.faults.next("views.open", error="expired_trigger_id")
    await stage.ada.clicks("How I got here", on=reply)
    await stage.ada.is_shown("Press the button again", in_=stage.travel)


async def test_a_private_answer_is_for_the_asker_alone_and_is_followed_up(
    bot: Bot, stage: Stage, services: Services
) -> None:
    first = await stage.ada.runs("/crag-ask How many weeks?", in_=stage.travel, saying="16 weeks")
    assert first.is_private
    assert "Answered from your documents" in first.screen
    await stage.ada.clicks("Helpful", on=first)
    await stage.ada.runs("/crag-ask And the second one?", in_=stage.travel, saying="16 weeks")
    assert stage.slack.calls("conversations.replies") == []  # there is no thread to read
    writer = services.writer
    assert isinstance(writer, ScriptedWriter)
    assert [turn["question"] for turn in writer.conversations[-1].turns] == ["How many weeks?"]
    assert not [post for post in stage.travel.posts.values() if post.author.is_bot]


@pytest.mark.parametrize("line", ["/crag-ask", "/crag-ask help", "/crag-ask :wave:"])
async def test_wrong_use_of_the_private_question_is_explained(bot: Bot, stage: Stage, line: str) -> None:
    assert "/crag-ask QUESTION" in (await stage.ada.runs(line, in_=stage.travel)).screen


async def test_a_private_answer_whose_response_url_is_gone_still_arrives(bot: Bot, stage: Stage) -> None:
    stage.slack.faults.next("response_url", status=404)
    shown = await stage.ada.runs("/crag-ask How many weeks?", in_=stage.travel, saying="16 weeks")
    assert shown.is_private


async def test_a_failing_library_is_said_politely_and_tried_again(stage: Stage) -> None:
    library = ScriptedLibrary(
        spaces={"workspace": [LEAVE]}, trouble=trouble(search=[LibraryError(), LibraryError(), LibraryError()])
    )
    async with stage.bot(scripted(library=library)):
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        first = await stage.slack.reply_to(question, saying="I will try again in 0.3 seconds")
        answer = await stage.slack.reply_to(question, saying="16 weeks", within=15)
    assert answer.ts == first.ts
    assert len(stage.slack.replies(question)) == 1


async def test_anything_else_gets_one_apology_with_the_trace(stage: Stage) -> None:
    writer = ScriptedWriter(trouble=trouble(generate=[ValueError("secret detail")] * 9))
    async with stage.bot(scripted(writer=writer)):
        reply = await stage.asks("@bot How many weeks?")
        await stage.slack.quiet()
    assert "Sorry, something went wrong" in reply.screen
    assert "trace " in reply.screen
    assert "secret" not in reply.screen
    assert len(stage.slack.replies(reply)) == 0


async def test_the_asker_may_stop_an_answer(stage: Stage) -> None:
    writer = ScriptedWriter(answer="word " * 40, trouble=trouble(generate=[30.0]))
    async with stage.bot(scripted(writer=writer)):
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        await stage.slack.until(
            lambda: stage.slack.session(question).state == "processing" and stage.slack.replies(question)
        )
        await asyncio.sleep(0.2)
        await stage.ada.stops(question)
        reply = await stage.slack.reply_to(question, saying="Stopped.")
        assert reply.screen.startswith("word word")
        await stage.slack.until(lambda: stage.slack.session(question).state == "active")
        await stage.asks("@bot and now how many weeks?", in_=question)


async def test_a_stopped_model_is_replaced_by_a_quoted_answer(stage: Stage) -> None:
    busy = ScriptedWriter(trouble=trouble(generate=[ModelBusyError()] * 9), answer="half of a wrong answer " * 4)
    services = scripted(writer=busy, spare_writer=ScriptedWriter(quoted=True))
    async with stage.bot(services):
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        reply = await stage.slack.reply_to(question, saying="16 weeks", within=20)
    assert "wrong" not in reply.screen
    assert "Quoted from the sources" in reply.screen
    assert "language model gave no answer" in reply.screen


async def test_a_forgotten_conversation_is_gone(
    bot: Bot, stage: Stage, services: Services, engine: AsyncEngine
) -> None:
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    reply = await stage.slack.reply_to(question)
    said = await stage.ada.runs("/crag-forget", in_=stage.travel, saying="Forgotten")
    assert "Answers: 1. What I remembered of it is gone, and so are the texts of its answers" in said.screen
    async with engine.connect() as connection:
        left = (await connection.execute(text("SELECT string_agg(question || answer, '') FROM runs"))).scalar()
    assert left == ""
    await stage.asks("@bot And now?", in_=question)
    writer = services.writer
    assert isinstance(writer, ScriptedWriter)
    assert writer.conversations == []
    await stage.ada.clicks("How I got here", on=reply)
    assert "no longer known" in (await stage.ada.sees_modal()).screen


async def test_only_ones_own_conversations_are_forgotten(bot: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    await stage.slack.reply_to(question)
    link = f"https://acme.slack.com/archives/{stage.travel.id}/p{question.ts.replace('.', '')}"
    assert "not yours to forget" in (await bob.runs(f"/crag-forget {link}", in_=stage.travel)).screen
    assert "no conversation of yours" in (await bob.runs("/crag-forget", in_=stage.travel)).screen
    await stage.ada.runs(f"/crag-forget {link}", in_=stage.travel, saying="Conversations: 1")
    await stage.asks("How many weeks?", in_=stage.ada.dm)
    await stage.ada.runs(
        "/crag-forget everything", in_=stage.travel, saying="conversations: 1, questions: 1, messages: 1"
    )
    assert "I do not know what to forget" in (await stage.ada.runs("/crag-forget the past", in_=stage.travel)).screen
    assert "/crag-forget LINK" in (await stage.ada.runs("/crag-forget help", in_=stage.travel)).screen
