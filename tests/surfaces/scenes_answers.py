"""Answers and abstentions, while they are made and when they are there; what is said where there is none."""

from bot.channels.settings import ChannelSettings, Manner, WebUse
from bot.slack import words
from bot.slack.replies.pace import Pace
from bot.slack.views.offers import EDITED, HOW, STOP, Offer
from crag_graph.domain import ModelCall
from crag_graph.services import LibraryError, ModelRejectedError, Services, WebRejectedError
from tests.fakes.services import ScriptedEvaluator, ScriptedLibrary, ScriptedWeb, ScriptedWriter, page, passage, trouble
from tests.scenarios.slack.bot import Options, scripted
from tests.slack_workspace import Message
from tests.slack_workspace.world import Conversation
from tests.surfaces.walk import Walk, unhurried

LEAVE = passage(
    "Parents get 16 weeks of leave. Adoption counts the same.", title="Leave", link="https://handbook.test/leave"
)
NEWS = page("Since May it is 20 weeks elsewhere.", title="News of leave", link="https://news.test/leave")
NO_WEB = ScriptedWeb(available=False)


def judged(score: float, **parts: object) -> Services:
    """Services that find the rule on leave, which is so good, and a page of the web."""
    scores = {"16 weeks": score, "20 weeks": 0.9}
    library = ScriptedLibrary(spaces={"workspace": [LEAVE]})
    found = {"library": library, "evaluator": ScriptedEvaluator(scores=scores), "web": ScriptedWeb(pages=[NEWS])}
    return scripted(**{**found, **parts})


async def answers(walk: Walk) -> None:
    walk.gallery.section("Answers")
    place, weeks = walk.place("answers"), walk.asked.weeks
    async with walk.bot(judged(0.9)):
        question = await walk.mentions(weeks, in_=place)
        first = await walk.slack.reply_to(question)
        walk.gallery.show("Answered from the library", first)
        await walk.presses(HOW, on=first)
        walk.gallery.show("How I got here, of an answer from the library", await walk.opens())
        await walk.ada.closes(await walk.opens())
        await walk.presses(Offer.WEB_TOO, on=first)
        second = await walk.answer(question, 2)
        walk.gallery.show("The library was enough, and the web was searched too", second)
        await walk.presses(Offer.LIBRARY_ALONE, on=second)
        walk.gallery.show("Only from the library, after the web", await walk.answer(question, 3))
    web, library = ScriptedWeb(pages=[NEWS]), ScriptedLibrary(spaces={"workspace": [LEAVE]})
    evaluator, show = ScriptedEvaluator(scores={"16 weeks": 0.5}), walk.gallery.show
    async with walk.bot(scripted(library=library, evaluator=evaluator, web=web)):
        show("The library covers a part, the web the rest", await walk.asks(weeks, in_=place))
        web.pages = ()
        show("The library covers a part, the web has nothing", await walk.asks(weeks, in_=place))
        web.trouble = trouble(search=[WebRejectedError()])
        show("The library covers a part, the web is away", await walk.asks(weeks, in_=place))
        evaluator.scores, web.pages = {"16 weeks": 0.1}, [NEWS]
        reply = await walk.asks(weeks, in_=place)
        show("Not in the library, answered from the web", reply)
        await walk.presses(HOW, on=reply)
        show("How I got here, of an answer from the web", await walk.opens())
        await walk.ada.closes(await walk.opens())
    await _quoted(walk, place)


async def _quoted(walk: Walk, place: Conversation) -> None:
    weeks = walk.asked.weeks
    writer = ScriptedWriter(trouble=trouble(generate=[ModelRejectedError()] * 9))
    async with walk.bot(judged(0.9, writer=writer, spare_writer=ScriptedWriter(quoted=True))):
        walk.gallery.show("The model is away: quoted from the sources", await walk.asks(weeks, in_=place))
    long = ScriptedWriter(answer=f"{'Leave is long, and there is much to say of it. ' * 300}[1]")
    async with walk.bot(judged(0.9, writer=long)):
        question = await walk.mentions(weeks, in_=place)
        await walk.answer(question, 2)
        walk.gallery.say("A long answer goes on in a second message", walk.slack.replies(question)[1].text)


async def signs(walk: Walk) -> None:
    walk.gallery.section("While an answer is made")
    place, weeks = walk.place("signs"), walk.asked.weeks
    async with walk.bot(judged(0.5, writer=slow()), Options(http=True)):
        question = await walk.mentions(weeks, in_=place)
        streamed = await _first(walk, question)
        walk.gallery.say("The status under the thread", walk.slack.session(question).statuses[0])
        await walk.slack.until(lambda: len(streamed.post.stream.tasks) > 4 and streamed.text)  # type: ignore[union-attr] # it is one
        walk.gallery.show("A stream, with its stages", streamed)
        await walk.ada.stops(question)
        await walk.slack.until(lambda: streamed.is_finished and streamed.post.edited)
        walk.gallery.show("Stopped", streamed)
    pace = Pace(patience=0.05, edit_every=0.1)
    pace.streaming.close()
    async with walk.bot(judged(0.9, writer=slow()), Options(http=True, pace=pace)):
        question = await walk.mentions(weeks, in_=place)
        edited = await _first(walk, question)
        await walk.slack.until(lambda: "16" in edited.screen)
        walk.gallery.show("Where Slack does not stream, a message that is edited", edited)
        since = await walk.presses(STOP, on=edited, by=walk.bob)
        walk.gallery.show("Stop, pressed by somebody else", await walk.is_told(in_=place, since=since, by=walk.bob))
        since = await walk.presses(STOP, on=edited)
        walk.gallery.show("Stop, pressed", await walk.is_told(in_=place, since=since))
        await walk.slack.until(lambda: not edited.buttons)
    async with walk.bot(judged(0.9, writer=slow())):
        sign = await walk.runs(f"/crag-ask {weeks}", in_=place)
        walk.gallery.show("A private question is taken", sign)
        since = await walk.presses(STOP, on=sign)
        said = await walk.is_told(in_=place, since=since)
        both = (said, await walk.is_also_told(said, since=since))
        walk.gallery.show("A private answer, stopped", next(one for one in both if one.blocks))
        await walk.settles()
        since = await walk.presses(STOP, on=sign)
        walk.gallery.show("Stop, pressed too late", await walk.is_told(in_=place, since=since))


def slow() -> ScriptedWriter:
    return ScriptedWriter(trouble=trouble(generate=[30.0]))


async def _first(walk: Walk, question: Message) -> Message:
    return await walk.slack.until(lambda: next(iter(walk.slack.replies(question)), None))


async def abstentions(walk: Walk) -> None:
    walk.gallery.section("No answer")
    place, weeks = walk.place("abstentions"), walk.asked.weeks
    elsewhere = f"{walk.slack.team.id}:{walk.ada.dm.id}"
    web, library = ScriptedWeb(), ScriptedLibrary(spaces={})
    evaluator, show = ScriptedEvaluator(scores={"16 weeks": 0.1}), walk.gallery.show
    async with walk.bot(scripted(library=library, evaluator=evaluator, web=web)) as bot:
        show("Nothing was found", await walk.asks(weeks, in_=place))
        library.spaces = {"workspace": [LEAVE]}
        show("What was found is too weak", await walk.asks(weeks, in_=place))
        web.trouble = trouble(search=[WebRejectedError()])
        show("The web cannot be reached", await walk.asks(weeks, in_=place))
        web.available = False
        show("Web search is off", await walk.asks(weeks, in_=place))
        evaluator.scores, library.spaces = {"16 weeks": 0.9}, {elsewhere: [LEAVE]}
        show("It may not be used here", await walk.asks(weeks, in_=place))
        evaluator.scores, library.spaces, web.available = {"16 weeks": 0.1}, {"workspace": [LEAVE]}, True
        settings = ChannelSettings(web=WebUse.ASK, callable_people=(walk.bob.id,))
        await bot.channels.save(walk.slack.team.id, place.id, settings, by=walk.ada.id)
        reply = await walk.asks(weeks, in_=place)
        show("The web is asked at the asker's wish, and there are people to call", reply)
        await walk.presses(HOW, on=reply)
        show("How I got here, where there is no answer", await walk.opens())
        await walk.ada.closes(await walk.opens())


async def hints(walk: Walk) -> None:
    walk.gallery.section("Hints, limits and failures")
    place, weeks = walk.place("hints"), walk.asked.weeks
    async with walk.bot(judged(0.9)) as bot:
        walk.gallery.show("A mention without words", await walk.asks("", in_=place))
        walk.gallery.show("A question that is too long", await walk.asks(weeks + "w" * 40_000, in_=place))
        off = ChannelSettings(manner=Manner.OFF)
        silent = walk.place("silent")
        await bot.channels.save(walk.slack.team.id, silent.id, off, by=walk.ada.id)
        since = walk.slack.clock.ts()
        await walk.mentions(weeks, in_=silent)
        walk.gallery.show("Mentioned where it is switched off", await walk.is_told(in_=silent, since=since))
    async with walk.bot(judged(0.9), Options(http=True, pace=unhurried(), limits={"channel": 1})):
        full = walk.place("full")
        await walk.asks(weeks, in_=full)
        walk.gallery.show("Too many questions in an hour", await walk.asks(weeks, in_=full))
    await _budget(walk)
    failing = ScriptedLibrary(spaces={}, trouble=trouble(search=[LibraryError()] * 3))
    async with walk.bot(judged(0.9, library=failing)):
        question = await walk.mentions(weeks, in_=place)
        reply = await walk.slack.reply_to(question)
        walk.gallery.show("The library is away, and it is tried again", reply)
        await walk.answer(question, 1)
    broken = ScriptedWriter(trouble=trouble(generate=[ValueError("secret")] * 9))
    async with walk.bot(judged(0.9, writer=broken)):
        walk.gallery.show("Something is broken", await walk.asks(weeks, in_=place))
    hanging = ScriptedWriter(trouble=trouble(generate=[30.0] * 9))
    services = judged(0.9, writer=hanging, spare_writer=ScriptedWriter(quoted=True))
    async with walk.bot(services, Options(http=True, pace=unhurried(), deadline=0.4)):
        walk.gallery.show("The time for a question is up", await walk.asks(weeks, in_=place))


async def _budget(walk: Walk) -> None:
    call = ModelCall(role="evaluate", model="judge", prompt_tokens=250)
    evaluator = ScriptedEvaluator(scores={"16 weeks": 0.9}, calls=(call,))
    frugal = judged(0.9, writer=ScriptedWriter(quoted=True))
    place = walk.place("budget")
    async with walk.bot(
        judged(0.9, evaluator=evaluator), Options(http=True, pace=unhurried(), tokens=1_000, frugal=frugal)
    ):
        since = walk.slack.clock.ts()
        for _ in range(2):
            await walk.asks(walk.asked.weeks, in_=place)
        told = await walk.is_told(in_=walk.root.dm, since=since, by=walk.root)
        walk.gallery.show("To an admin: the budget is nearly used up", told)
        walk.gallery.show("The budget is used up", await walk.asks(walk.asked.weeks, in_=place))


async def refusals(walk: Walk) -> None:
    walk.gallery.section("In direct messages, where Slack takes no answer")
    place = walk.place("refusals")
    async with walk.bot(judged(0.9)):
        for code in [*words.REFUSALS, "some_new_error"]:
            walk.slack.faults.next("chat.postMessage", error=code)
            since = walk.slack.clock.ts()
            await walk.mentions(walk.asked.weeks, in_=place)
            walk.gallery.show(f"Slack says {code}", await walk.is_told(in_=walk.ada.dm, since=since))


async def edits(walk: Walk) -> None:
    walk.gallery.section("Edited questions")
    place, asked = walk.place("edits"), walk.asked
    async with walk.bot(judged(0.9)):
        question = await walk.mentions(asked.weeks, in_=place)
        await walk.answer(question, 1)
        await walk.settles()  # an edit before that has this answer made again
        since = walk.slack.clock.ts()
        await walk.ada.edits(question, f"@bot {asked.twins}")
        offer = await walk.is_told(in_=place, since=since)
        walk.gallery.show("An edited question can be answered, too", offer)
        since = await walk.presses(EDITED, on=offer)
        walk.gallery.show("Pressed", await walk.is_told(in_=place, since=since))
        await walk.answer(question, 2)
        since = await walk.presses(EDITED, on=offer)
        walk.gallery.show("Pressed twice", await walk.is_told(in_=place, since=since))
        question = await walk.mentions(asked.weeks, in_=place)
        await walk.answer(question, 1)
        await walk.settles()  # an edit before that has this answer made again
        since = walk.slack.clock.ts()
        await walk.ada.edits(question, f"@bot {asked.twins}")
        offer = await walk.is_told(in_=place, since=since)
        await walk.ada.deletes(question)
        await walk.presses(EDITED, on=offer)
        await walk.slack.until(lambda: len(walk.slack.replies(question)) == 2)
        walk.gallery.show("Pressed when the question is gone", walk.slack.replies(question)[1])


SCENES = (answers, signs, abstentions, hints, refusals, edits)
