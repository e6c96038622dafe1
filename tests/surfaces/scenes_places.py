"""The library, what is settled in a channel, the app's own tabs, the other commands, and the pages of an installation."""

import re
from html import unescape

from bot.channels.settings import Changers, ChannelSettings, Ingesters
from bot.slack.views.about import ABOUT
from bot.slack.views.home import FORGET, SETTINGS
from bot.slack.views.keeping import KEEP
from crag_graph.knowledge.sources import Upload
from tests.scenarios.slack.bot import Bot, Options
from tests.scenarios.slack.installers import Installer, query_of
from tests.slack_workspace import Message, Person
from tests.slack_workspace.modal import Modal, Outcome
from tests.slack_workspace.world import Conversation
from tests.surfaces.scenes_answers import judged
from tests.surfaces.walk import Walk


async def library(walk: Walk) -> None:
    walk.gallery.section("The library")
    place, show, runs = walk.place("library"), walk.gallery.show, walk.runs
    async with walk.bot(judged(0.9)) as bot:
        show("Help", await runs("/crag-ingest help", in_=place))
        show("An empty list", await runs("/crag-ingest list", in_=place))
        await _added(walk, place)
        show("An address that is none", await runs("/crag-ingest nonsense", in_=place))
        show("Text without a title", await runs("/crag-ingest text", in_=place))
        show("The list", await runs("/crag-ingest list", in_=place))
        show("The status", await runs("/crag-ingest status", in_=place))
        show("Nothing to fetch again", await runs("/crag-ingest refresh all", in_=place))
        number = max(one.id for one in await bot.library.documents([f"{walk.slack.team.id}:{place.id}"]))
        show("Remove, of nothing", await runs("/crag-ingest remove", in_=place))
        show("Remove, by somebody else", await runs(f"/crag-ingest remove {number}", in_=place, by=walk.bob))
        show("Remove", await runs(f"/crag-ingest remove {number}", in_=place))
        show("For everybody, by no admin", await runs("/crag-ingest text A --workspace\nB", in_=place))
        closed = walk.place("closed")
        for ingest, name in ((Ingesters.ADMINS, "admins"), (Ingesters.NAMED, "some people")):
            now = await bot.channels.of(walk.slack.team.id, closed.id)
            settings = ChannelSettings(ingest=ingest, ingesters=(walk.bob.id,), version=now.version)
            await bot.channels.save(walk.slack.team.id, closed.id, settings, by=walk.ada.id)
            show(f"Only {name} may add documents", await runs("/crag-ingest text A\nB", in_=closed))


async def _added(walk: Walk, place: Conversation) -> None:
    show = walk.gallery.show
    show("Text is taken", await walk.runs("/crag-ingest text Trains\nTrains come first.", in_=place))
    show("It is added", await _finished(walk, place, 1))
    await walk.runs("/crag-ingest text Trains\nTrains come first.", in_=place)
    show("It is there already", await _finished(walk, place, 2))
    await walk.runs("/crag-ingest text Trains\nPlanes come first. This was superseded.", in_=place)
    show("It is replaced", await _finished(walk, place, 3))
    show("An address is taken", await walk.runs("/crag-ingest http://127.0.0.1:9/rules", in_=place))
    show("An address cannot be fetched", await _finished(walk, place, 4))
    broken = walk.ada.file("broken.pdf", b"no pdf")
    question = await walk.ada.says("@bot ingest", in_=place, files=[broken])
    reply = await walk.slack.reply_to(question)
    await walk.slack.until(lambda: reply.versions > 1)
    show("A file cannot be read", reply)


async def _finished(walk: Walk, place: Conversation, number: int) -> Message:
    """The so-manieth message of the bot at the top of the place, once it says how it went."""

    def found() -> Message | None:
        tops = [one for one in walk.slack.messages(place) if one.author.is_bot and one.root == one.ts]
        return tops[number - 1] if len(tops) >= number and tops[number - 1].versions > 1 else None

    return await walk.slack.until(found)


async def shortcuts(walk: Walk) -> None:
    walk.gallery.section("Shortcuts of a message")
    place, show = walk.place("shortcuts"), walk.gallery.show
    async with walk.bot(judged(0.9)):
        root = await walk.bob.says("Where do we stay in Oslo?", in_=place)
        await walk.ada.says("At the hotel by the port.", in_=root)
        plan = walk.ada.file("plan.md", b"# The plan\n\nWe go by train.")
        filed = await walk.ada.says("", in_=place, files=[plan])
        answer = await walk.asks(walk.asked.weeks, in_=place)
        for on, by, name in (
            (root, walk.ada, "Add to library"),
            (root, walk.root, "Add to library, by an admin"),
            (filed, walk.ada, "Add to library, of a file"),
            (answer, walk.ada, "Add to library, of the bot's own words"),
        ):
            show(name, await _used(walk, KEEP, on, by))
        modal = await _used(walk, ABOUT, root, walk.ada)
        show("Ask about this message", modal)
        outcome = await walk.submits(modal, {"question": "?!"})
        walk.gallery.say("Ask about this message, without words", *(outcome.errors or {}).values())
        await walk.ada.closes(modal)
        walk.slack.faults.next("views.open", error="expired_trigger_id")
        since = walk.slack.clock.ts()
        assert (await walk.ada.uses_shortcut(KEEP, on=root)).ok
        show("A shortcut, where Slack opens no window", await walk.is_told(in_=place, since=since))


async def _used(walk: Walk, shortcut: str, on: Message, by: Person) -> Modal:
    for view in walk.slack.platform.views.stack_of(by.account):
        view.closed = True
    assert (await by.uses_shortcut(shortcut, on=on)).ok
    return await walk.opens(by=by)


async def settings(walk: Walk) -> None:
    walk.gallery.section("Settings of a channel")
    place, show = walk.place("settings"), walk.gallery.show
    walk.slack.group("hr", walk.bob)
    async with walk.bot(judged(0.9)) as bot:
        show("To a member", await _opened(walk, place, walk.ada))
        hers, his = await _opened(walk, place, walk.root), await _opened(walk, place, walk.bob)
        show("To an admin", hers)
        wrong: dict[str, object] = {"switches": [0, 2], "bot_turns": "0", "ingest": 1}
        errors = (await walk.submits(his, wrong, by=walk.bob)).errors or {}
        walk.gallery.say("What cannot be saved", *(f"{label}: {said}" for label, said in errors.items()))
        show("Saved", _shown(await walk.submits(his, {"web": 1, "callable_people": [walk.bob]}, by=walk.bob)))
        show("Somebody was quicker", _shown(await walk.submits(hers, {"manner": 0}, by=walk.root)))
        again = await _opened(walk, place, walk.ada)
        show("Nothing was changed", _shown(await walk.submits(again, {})))
        now = await bot.channels.of(walk.slack.team.id, place.id)
        closed = ChannelSettings(changers=Changers.ADMINS, version=now.version)
        await bot.channels.save(walk.slack.team.id, place.id, closed, by=walk.root.id)
        runs = walk.runs
        show("Only admins may", await runs("/crag-settings", in_=place))
        show("To a guest", await runs("/crag-settings", in_=place, by=walk.gus))
        show("In direct messages", await runs("/crag-settings", in_=walk.ada.dm))
        hidden = walk.slack.channel("hidden", members=[walk.ada], private=True)
        show("Where the bot is no member", await runs("/crag-settings", in_=hidden))
        walk.slack.faults.next("views.open", error="expired_trigger_id")
        show("Where Slack opens no window", await runs("/crag-settings", in_=place, by=walk.root))


def _shown(outcome: Outcome) -> Modal:
    assert outcome.shows is not None, outcome
    return outcome.shows


async def _opened(walk: Walk, place: Conversation, by: Person) -> Modal:
    for view in walk.slack.platform.views.stack_of(by.account):
        view.closed = True
    return await by.opens("/crag-settings", in_=place)


async def tabs(walk: Walk) -> None:
    walk.gallery.section("Home and Messages tabs")
    show, team = walk.gallery.show, walk.slack.team.id
    stranger = walk.slack.user("New", locale=walk.asked.locale, guest=True)
    asker = walk.slack.user("Cleo", locale=walk.asked.locale)
    place = walk.slack.channel("home", members=[asker, walk.root, walk.slack.bot])
    async with walk.bot(judged(0.9)) as bot:
        show("Home, where nothing is known and nothing was asked", await stranger.opens_home())
        await stranger.opens_messages_tab()
        walk.gallery.say("Suggested questions, where nothing is known", *await _prompts(walk, stranger))
        await _add(bot, "Handbook", f"{team}:{place.id}", b"# Handbook\n\nWelcome.\n\n## Parental leave\n\n16 weeks.")
        await _add(bot, "Diary", f"{team}:{asker.dm.id}", b"# Diary\n\nOf days.\n\n## Mondays\n\nLong.")
        await _add(bot, "broken.pdf", f"{team}:{place.id}", b"no pdf")
        await walk.asks(walk.asked.weeks, in_=place, by=asker)
        home = await asker.opens_home()
        show("Home, of a member", home)
        await walk.presses(SETTINGS, on=home, by=asker)
        choice = await walk.opens(by=asker)
        show("Settings of a channel, from there", choice)
        await asker.closes(choice)
        show("Home, of an admin", await walk.root.opens_home())
        before = len(home.buttons)
        await walk.presses(FORGET, on=home, by=asker)
        await walk.slack.until(lambda: len(home.buttons) < before)
        show("Home, once a conversation is being forgotten", home)
        await asker.opens_messages_tab()
        walk.gallery.say("Suggested questions, about what is known", *await _prompts(walk, asker))


async def _prompts(walk: Walk, person: Person) -> list[str]:
    return await walk.slack.until(lambda: walk.slack.prompts(person.dm))


async def _add(bot: Bot, name: str, space: str, data: bytes) -> None:
    async for _ in bot.ingest.ingest(Upload(filename=f"{name}.md", data=data, source=name), space=space, added_by="U1"):
        pass


async def commands(walk: Walk) -> None:
    walk.gallery.section("Other commands")
    place, show, runs = walk.place("commands"), walk.gallery.show, walk.runs
    newcomer = walk.slack.user("Finn", locale=walk.asked.locale)
    place.members.append(newcomer.id)
    async with walk.bot(judged(0.9)):
        show("Forget, help", await runs("/crag-forget help", in_=place))
        show("Forget, of nothing", await runs("/crag-forget", in_=place, by=newcomer))
        show("Forget, of something unknown", await runs("/crag-forget tomorrow", in_=place))
        link = f"https://acme.slack.com/archives/{place.id}/p1700000000000000"
        show("Forget, of somebody else's conversation", await runs(f"/crag-forget {link}", in_=place))
        for person, name in ((newcomer, "of nothing"), (walk.gus, "of what was asked")):
            if person is walk.gus:
                await walk.asks(walk.asked.weeks, in_=place, by=person)
            since = walk.slack.clock.ts()
            taken = await runs("/crag-forget everything", in_=place, by=person)
            done = await walk.is_also_told(taken, since=since, by=person)
            show(f"Forget everything, {name}", done)
        show("Traces, to somebody who is no admin", await runs("/crag-traces", in_=place))
    async with walk.bot(judged(0.9)):
        walk.slack.faults.next("conversations.info", error="internal_error")
        show("A command that fails", await runs("/crag-ingest https://acme.test", in_=place, by=walk.bob))


async def installing(walk: Walk) -> None:
    walk.gallery.section("Pages of an installation")
    place, page = walk.place("installing"), _Pages(walk)
    walk.slack.at_the_browser(walk.ada)
    async with walk.bot(judged(0.9), Options(oauth=True)) as bot:
        shown = await walk.runs(f"/crag-ask {walk.asked.weeks}", in_=place)
        walk.gallery.show("A command where the app is not installed", shown)
        await page.opens("The invitation", bot, "/slack/install")
        await page.opens("Permission was not given", bot, "/slack/oauth_redirect?error=access_denied")
        await page.opens("Begun elsewhere", bot, "/slack/oauth_redirect?state=x&code=y")
        browser = Installer(bot)
        state = query_of(await browser.begins())["state"]
        page.say("Slack does not confirm", (await browser.opens(f"/slack/oauth_redirect?code=z&state={state}")).text)
        browser = Installer(bot)
        back = await browser.allows(await browser.begins())
        walk.slack.faults.next("oauth.v2.access", drop=True, times=None)
        page.say("Slack does not answer", (await browser.opens(back)).text)
        walk.slack.faults.clear()
        walk.slack.platform.org_wide = True
        page.say("For a whole organisation", (await Installer(bot).installs()).text)
        walk.slack.platform.org_wide = False
        page.say("Installed", (await Installer(bot).installs()).text)


class _Pages:
    def __init__(self, walk: Walk) -> None:
        self._walk = walk

    async def opens(self, name: str, bot: Bot, path: str) -> None:
        self.say(name, (await Installer(bot).opens(path)).text)

    def say(self, name: str, html: str) -> None:
        """The page as text: headings, paragraphs, and links as buttons."""
        body = html.partition("<body>")[2] or html
        linked = re.sub(r"<a [^>]*>(.*?)</a>", r"[\1]", body)
        lines = (unescape(re.sub(r"<[^>]+>", "", one)).strip() for one in re.split(r"</?(?:p|h1|main)>", linked))
        self._walk.gallery.say(name, *filter(None, lines))


SCENES = (library, shortcuts, settings, tabs, commands, installing)
