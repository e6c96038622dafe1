"""What is pressed under an answer, private answers, people who are called, and what experts are asked."""

from sqlalchemy import text

from bot.channels.settings import ChannelSettings, Ingesters
from bot.database.engine import open_engine
from bot.experts.answers import Correction
from bot.slack.views.experts import REMOVE, STILL_RIGHT
from bot.slack.views.offers import FEEDBACK, HOW, Offer
from bot.slack.views.relay import STORE
from bot.traces import gaps
from crag_graph.knowledge.search import HybridSearch
from tests.fakes.services import ScriptedLibrary, ScriptedWeb
from tests.scenarios.slack.bot import Bot, LetterEmbedder
from tests.slack_workspace import Message
from tests.slack_workspace.world import Conversation
from tests.surfaces.scenes_answers import NO_WEB, judged
from tests.surfaces.walk import Walk


async def buttons(walk: Walk) -> None:
    walk.gallery.section("Buttons under an answer")
    place, show = walk.place("buttons"), walk.gallery.show
    async with walk.bot(judged(0.5)):
        question = await walk.mentions(walk.asked.weeks, in_=place)
        reply = await walk.answer(question, 1)
        told = {Offer.LIBRARY_ALONE: "Only our documents", Offer.AGAIN: "Ask again"}
        for number, (offer, name) in enumerate(told.items(), start=2):
            since = await walk.presses(offer, on=reply)
            show(f"{name}, pressed", await walk.is_told(in_=place, since=since))
            await walk.answer(question, number)
        since = await walk.presses(Offer.AGAIN, on=reply)
        show("Ask again, pressed twice", await walk.is_told(in_=place, since=since))
        since = await walk.presses(Offer.AGAIN, on=reply, by=walk.bob)
        show("Ask again, pressed by somebody else", await walk.is_told(in_=place, since=since, by=walk.bob))
        since = await walk.presses(FEEDBACK, on=reply)
        show("Helpful, pressed", await walk.is_told(in_=place, since=since))
        await walk.presses(FEEDBACK, on=reply, side=1)
        modal = await walk.opens()
        show("Not helpful, pressed", modal)
        await walk.ada.closes(modal)
        await _without_windows(walk, reply, place)
        await _forgotten(walk, reply, place)


async def _without_windows(walk: Walk, reply: Message, place: Conversation) -> None:
    show, expired = walk.gallery.show, {"error": "expired_trigger_id"}
    walk.slack.faults.next("views.open", **expired)  # type: ignore[arg-type] # one of several
    since = await walk.presses(FEEDBACK, on=reply, side=1)
    show("Not helpful, where Slack opens no window", await walk.is_told(in_=place, since=since))
    walk.slack.faults.next("views.open", **expired)  # type: ignore[arg-type] # one of several
    since = await walk.presses(HOW, on=reply)
    show("How I got here, where Slack opens no window", await walk.is_told(in_=place, since=since))
    await walk.presses(HOW, on=reply, by=walk.gus)
    modal = await walk.opens(by=walk.gus)
    show("How I got here, pressed by a guest", modal)
    await walk.gus.closes(modal)


async def _forgotten(walk: Walk, reply: Message, place: Conversation) -> None:
    show = walk.gallery.show
    since = walk.slack.clock.ts()
    taken = await walk.runs("/crag-forget", in_=place)
    show("Forget, at once", taken)
    show("Forget, when it is done", await walk.is_also_told(taken, since=since))
    since = await walk.presses(FEEDBACK, on=reply)
    show("A button of an answer that was forgotten", await walk.is_told(in_=place, since=since))
    await walk.presses(HOW, on=reply)
    modal = await walk.opens()
    show("How I got here, of an answer that was forgotten", modal)
    await walk.ada.closes(modal)


async def private_answers(walk: Walk) -> None:
    walk.gallery.section("Private answers")
    place, show = walk.place("private"), walk.gallery.show
    async with walk.bot(judged(0.9)) as bot:
        show("Ask, without a question", await walk.runs("/crag-ask", in_=place))
        since = walk.slack.clock.ts()
        taken = await walk.runs(f"/crag-ask {walk.asked.weeks}", in_=place)
        answer = await walk.is_also_told(taken, since=since)
        show("A private answer", answer)
        since = await walk.presses(Offer.SHARE, on=answer)
        show("Share in channel, pressed", await walk.is_told(in_=place, since=since))
        await walk.slack.until(lambda: walk.slack.messages(place))
        show("A shared answer", walk.slack.messages(place)[-1])
        first = ChannelSettings(private_first=True)
        await bot.channels.save(walk.slack.team.id, place.id, first, by=walk.ada.id)
        since = walk.slack.clock.ts()
        await walk.mentions(walk.asked.weeks, in_=place)
        show("Mentioned where answers are private first", await walk.is_told(in_=place, since=since))
        await walk.settles()


async def people(walk: Walk) -> None:
    walk.gallery.section("People who are called")
    place, show = walk.place("people"), walk.gallery.show
    async with walk.bot(judged(0.9, library=ScriptedLibrary(spaces={}), web=ScriptedWeb(available=False))) as bot:
        called = ChannelSettings(callable_people=(walk.bob.id,))
        await bot.channels.save(walk.slack.team.id, place.id, called, by=walk.ada.id)
        question = await walk.mentions(walk.asked.coffee, in_=place)
        reply = await walk.slack.reply_to(question)
        since = await walk.presses(Offer.PERSON, on=reply)
        show("Ask a person, pressed", await walk.is_told(in_=place, since=since))
        await walk.slack.until(lambda: len(walk.slack.replies(question)) == 2)
        call = walk.slack.replies(question)[1]
        show("A person is called", call)
        await walk.presses(STORE, on=call, by=walk.bob)
        modal = await walk.opens(by=walk.bob)
        show("Store the answer, before anybody has answered", modal)
        await walk.bob.closes(modal)
        await walk.bob.says("Dolores of facilities, extension 4711.", in_=question)
        await walk.settles()
        await walk.presses(STORE, on=call, by=walk.bob)
        modal = await walk.opens(by=walk.bob)
        show("Store the answer", modal)
        await walk.submits(modal, {}, by=walk.bob)
        await walk.slack.until(lambda: len(walk.slack.replies(question)) == 3)
        show("The answer is stored", walk.slack.replies(question)[2])
        closed = ChannelSettings(callable_people=(walk.bob.id,), ingest=Ingesters.ADMINS, version=1)
        await bot.channels.save(walk.slack.team.id, place.id, closed, by=walk.ada.id)
        await walk.presses(STORE, on=call, by=walk.bob)
        modal = await walk.opens(by=walk.bob)
        show("Store the answer, by somebody who may not", modal)
        await walk.bob.closes(modal)


async def asides(walk: Walk) -> None:
    walk.gallery.section("What the bot says of its own accord")
    place, show = walk.place("asides"), walk.gallery.show
    engine = open_engine(walk.database_url, pool_size=2)
    services = judged(0.9, library=HybridSearch(engine, LetterEmbedder()), web=NO_WEB)
    async with walk.bot(services) as bot:
        reply = await walk.asks(walk.asked.weeks, in_=place)
        since = await walk.presses(Offer.TELL, on=reply)
        show("Tell me when you know, pressed", await walk.is_told(in_=place, since=since))
        since = await walk.presses(Offer.TELL, on=reply, by=walk.bob)
        told = await walk.is_told(in_=place, since=since, by=walk.bob)
        show("Tell me when you know, pressed by somebody else", told)
        await _mended(walk, bot, place)
        await _old(walk, bot)
    await engine.dispose()


async def _mended(walk: Walk, bot: Bot, place: Conversation) -> None:
    team = walk.slack.team.id
    await gaps.group(bot.engine, LetterEmbedder(), team=team, limit=100)
    for gap in await gaps.list_gaps(bot.engine, team=team):
        await gaps.settle(bot.engine, gap.id, "written", team=team, person=walk.root.id)
    await walk.runs("/crag-ingest text Leave\nParents get 16 weeks of leave.", in_=place)
    await walk.slack.until(lambda: walk.slack.messages(place)[-1].versions > 1)
    await walk.settles()
    since = walk.slack.clock.ts()
    await bot.slack.nightly.run()
    told = await walk.is_told(in_=walk.ada.dm, since=since)
    walk.gallery.show("To somebody who wanted to be told", told)


async def _old(walk: Walk, bot: Bot) -> None:
    show, team = walk.gallery.show, walk.slack.team.id
    for action, name in ((STILL_RIGHT, "Still right"), (REMOVE, "Remove it")):
        for question in (walk.asked.coffee, walk.asked.twins):
            correction = Correction(
                team=team,
                space="workspace",
                question=question,
                answer="Dolores of facilities.",
                author=walk.ada.id,
                author_name="Ada",
            )
            await bot.experts.correct(correction)
        async with bot.engine.begin() as connection:
            await connection.execute(text("UPDATE expert_answers SET review_at = now() - interval '1 day'"))
        since = walk.slack.clock.ts()
        await bot.slack.nightly.run()
        asked = await walk.is_told(in_=walk.ada.dm, since=since)
        if action == STILL_RIGHT:
            show("An expert's answer may be old", asked)
            bobs = await walk.presses(action, on=asked, by=walk.bob)
            show("Pressed by somebody else", await walk.is_told(in_=walk.ada.dm, since=bobs, by=walk.bob))
        await walk.presses(action, on=asked)
        await walk.slack.until(lambda shown=asked: not shown.buttons)  # type: ignore[misc] # mypy takes no defaults here
        show(f"{name}, pressed", asked)


SCENES = (buttons, private_answers, people, asides)
