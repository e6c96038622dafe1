"""Files that come with a question: what is said of them, and keeping them in the library."""

from bot.channels.settings import ChannelSettings, Ingesters
from bot.database.engine import open_engine
from bot.slack.views.offers import KEEP
from crag_graph.knowledge.search import HybridSearch
from crag_graph.models.chat_extractive import ExtractiveWriter
from tests.fakes.services import ScriptedEvaluator
from tests.scenarios.slack.bot import LetterEmbedder, scripted
from tests.slack_workspace import Message
from tests.slack_workspace.world import Conversation
from tests.surfaces.walk import Walk

LEAVE = b"# Leave\n\nParents get 16 weeks of leave. Adoption counts the same.\n"
RULES = "".join(f"## Rule {n}\n\nRule {n} is about leave.\n\n" for n in range(301)).encode()


async def files(walk: Walk) -> None:
    walk.gallery.section("Files that come with a question")
    place, show = walk.place("files"), walk.gallery.show
    engine = open_engine(walk.database_url, pool_size=2)
    evaluator = ScriptedEvaluator(scores={"16 weeks": 0.9})
    services = scripted(library=HybridSearch(engine, LetterEmbedder()), evaluator=evaluator, writer=ExtractiveWriter())
    async with walk.bot(services) as bot:
        weeks = await _asks(walk, place, walk.asked.weeks, {"leave.md": LEAVE, "plan.png": b"\x89PNG"})
        show("Answered from a file, another cannot be read", weeks)
        show(
            "A summary of a file of which the beginning is read",
            await _asks(walk, place, walk.asked.gist, {"rules.md": RULES}),
        )
        show("A file without a question", await _asks(walk, place, "", {"leave.md": LEAVE}))
        show("Files without a question", await _asks(walk, place, "", {"leave.md": LEAVE, "rules.md": RULES[:99]}))
        show("No file can be read", await _asks(walk, place, walk.asked.weeks, {"plan.png": b"\x89PNG"}))
        evaluator.scores = {"16 weeks": 0.5}
        show("Files cover a part", await _asks(walk, place, walk.asked.weeks, {"leave.md": LEAVE}))
        evaluator.scores = {}
        show("Files do not answer", await _asks(walk, place, walk.asked.weeks, {"leave.md": LEAVE}))
        await _kept(walk, weeks, place)
        settings = ChannelSettings(ingest=Ingesters.ADMINS)
        await bot.channels.save(walk.slack.team.id, place.id, settings, by=walk.root.id)
        other = await _asks(walk, place, walk.asked.weeks, {"leave.md": LEAVE})
        await walk.presses(KEEP, on=other, by=walk.bob)
        show("Keep in the library, pressed by somebody who may not", await walk.opens(by=walk.bob))
        await walk.bob.closes(await walk.opens(by=walk.bob))
    await engine.dispose()


async def _asks(walk: Walk, place: Conversation, text: str, named: dict[str, bytes]) -> Message:
    shared = [walk.ada.file(name, content) for name, content in named.items()]
    return await walk.slack.reply_to(await walk.ada.says(f"@bot {text}", in_=place, files=shared))


async def _kept(walk: Walk, reply: Message, place: Conversation) -> None:
    show = walk.gallery.show
    await walk.presses(KEEP, on=reply, by=walk.root)
    modal = await walk.opens(by=walk.root)
    show("Keep in the library, pressed by an admin", modal)
    await walk.submits(modal, {}, by=walk.root)
    show("Kept in the library", modal)
    await walk.root.closes(modal)
    since = await walk.presses(KEEP, on=reply)
    show("Keep in the library, pressed again", await walk.is_told(in_=place, since=since))


SCENES = (files,)
