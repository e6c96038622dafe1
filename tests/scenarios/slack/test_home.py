"""The app's own tabs: what the bot knows for somebody, what was asked, how it is forgotten, and how to begin."""

import pytest

from bot.slack.views.home import SETTINGS_LABEL
from crag_graph.knowledge.sources import Upload
from tests.scenarios.slack.bot import Bot, Stage
from tests.slack_workspace import Person
from tests.slack_workspace.modal import Modal
from tests.slack_workspace.world import Conversation

HOSTILE = "<!channel> *Rules* <https://evil.test|of> @here &amp; <@U123>"


async def add(bot: Bot, stage: Stage, place: Conversation | None, title: str, text: str = "Some words.") -> None:
    """A document of the place, or of everybody."""
    space = f"{stage.slack.team.id}:{place.id}" if place else "workspace"
    upload = Upload(filename="notes.md", data=f"# {title}\n\n{text}".encode(), source=f"test:{title}")
    async for one in bot.ingest.ingest(upload, space=space, added_by=stage.ada.id):
        assert one.document


async def shown(person: Person, saying: str) -> Modal:
    """The home tab once it says this."""
    return await person.slack.until(lambda: person.home if saying in person.home.screen else None)


async def test_it_tells_what_is_known_where_the_viewer_is(either: Bot, stage: Stage) -> None:
    await add(either, stage, None, "Handbook")
    await add(either, stage, stage.travel, "Trains")
    await add(either, stage, stage.travel, "Planes")
    await add(either, stage, stage.ada.dm, "Diary")
    home = await stage.ada.opens_home()
    assert "/crag-ask" in home.screen
    assert "#travel: Documents: 2. The last one was added on" in home.screen
    assert "Everybody in the workspace: Documents: 1." in home.screen
    assert "Direct messages: Documents: 1." in home.screen
    assert "You have asked me nothing yet" in home.screen


async def test_nobody_sees_on_it_what_they_may_not_ask_about(bot: Bot, stage: Stage) -> None:
    secret = stage.slack.channel("secret", members=[stage.ada, stage.slack.bot], private=True)
    await add(bot, stage, secret, "Merger")
    await add(bot, stage, None, "Handbook")
    await add(bot, stage, stage.travel, "Trains")
    await add(bot, stage, stage.ada.dm, "Diary")
    bob, guest = stage.slack.user("Bob"), stage.joins("Gus", guest=True)
    of_bob = await bob.opens_home()
    assert "Everybody in the workspace: Documents: 1." in of_bob.screen
    assert "secret" not in of_bob.screen
    assert "#travel" not in of_bob.screen
    assert "Direct messages:" not in of_bob.screen
    of_guest = await guest.opens_home()
    assert "#travel: Documents: 1." in of_guest.screen
    assert "Everybody in the workspace" not in of_guest.screen
    nobody = stage.slack.user("Eve", guest=True)
    assert "I know no documents" in (await nobody.opens_home()).screen


async def test_what_failed_is_told_with_its_reason_and_titles_stay_text(bot: Bot, stage: Stage) -> None:
    await add(bot, stage, stage.travel, HOSTILE)
    broken = Upload(filename=f"{HOSTILE.replace('/', '')}.pdf", data=b"no pdf", source="test:broken")
    async for _ in bot.ingest.ingest(broken, space=f"{stage.slack.team.id}:{stage.travel.id}", added_by="U1"):
        pass
    await stage.asks(f"@bot {HOSTILE} how many weeks?")
    home = await stage.ada.opens_home()
    assert "#travel: Documents: 1." in home.screen
    assert "Failed: 1." in home.screen
    assert "What could not be added" in home.screen
    assert "<!channel>" in home.screen
    published = stage.slack.calls("views.publish")[-1]
    assert len(str(published.args["view"])) < 250_000


async def test_a_conversation_is_forgotten_with_the_button_beside_it(either: Bot, stage: Stage) -> None:
    first = await stage.asks("@bot How many weeks of leave?")
    await stage.asks("How many weeks in private?", in_=stage.ada.dm)
    home = await stage.ada.opens_home()
    assert "How many weeks of leave? — #travel, " in home.screen
    assert "How many weeks in private? — Direct messages, " in home.screen
    assert home.buttons == (SETTINGS_LABEL(), "Forget", "Forget")

    assert (await stage.ada.clicks("Forget", on=home)).ok
    after = await shown(stage.ada, "Forgotten. Conversations: 1.")
    assert "in private?" not in after.screen
    assert "weeks of leave?" in after.screen
    assert after.buttons == (SETTINGS_LABEL(), "Forget")
    assert (await stage.ada.clicks("Forget", on=after)).ok
    await shown(stage.ada, "You have asked me nothing yet")
    assert "Forgotten" not in "".join(message.screen for message in stage.slack.messages(stage.ada.dm))
    follow_up = await stage.ada.says("@bot How many weeks, again?", in_=first)
    await stage.slack.reply_to(follow_up, saying="16 weeks")


async def test_forgetting_twice_or_what_is_anothers_changes_nothing(bot: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    await stage.asks("@bot How many weeks of leave?")
    home = await stage.ada.opens_home()
    old = Modal(view=home.view, world=home.world)
    await bob.opens_home()
    bobs = bob.home
    bobs.view.view = {**bobs.view.view, "blocks": home.blocks}
    assert (await bob.clicks("Forget", on=bobs)).ok
    await shown(bob, "or you asked nothing in it")
    assert "weeks of leave?" in (await stage.ada.opens_home()).screen
    blocks = home.blocks
    assert (await stage.ada.clicks("Forget", on=home)).ok
    await shown(stage.ada, "Forgotten. Conversations: 1.")
    old.view.view = {**old.view.view, "blocks": blocks}
    assert (await stage.ada.clicks("Forget", on=old)).ok
    await shown(stage.ada, "is forgotten already")


async def test_many_places_and_conversations_keep_to_slacks_limits(bot: Bot, stage: Stage) -> None:
    names = [f"place-{number}" for number in range(18)]
    places = [stage.slack.channel(name, members=[stage.ada, stage.slack.bot]) for name in names]
    for number, place in enumerate(places):
        await add(bot, stage, place, f"Rules of {number}")
        await stage.asks(f"@bot How many weeks in {number}? {'very ' * 200}", in_=place)
    home = await stage.ada.opens_home()
    assert "There are 3 more places with documents." in home.screen
    assert len(home.blocks) <= 100
    assert home.buttons == (SETTINGS_LABEL(), *("Forget",) * 15)
    assert "How many weeks in 17?" in home.screen
    assert "How many weeks in 1?" not in home.screen


async def test_questions_to_begin_with_come_from_what_the_person_may_ask_about(either: Bot, stage: Stage) -> None:
    secret = stage.slack.channel("secret", members=[stage.ada, stage.slack.bot], private=True)
    await add(either, stage, secret, "Merger")
    await add(either, stage, None, "Handbook", "Welcome.\n\n## Parental leave\n\n16 weeks.")
    await add(either, stage, stage.ada.dm, HOSTILE)
    await stage.ada.opens_messages_tab()
    prompts = await stage.slack.until(lambda: stage.slack.prompts(stage.ada.dm))
    assert len(prompts) == 3
    assert "What does “Handbook” say about “Parental leave”?" in prompts
    assert "Merger" not in "".join(prompts)
    assert "<!channel>" not in "".join(prompts)
    guest = stage.joins("Gus", guest=True)
    await guest.opens_messages_tab()
    of_guest = await stage.slack.until(lambda: stage.slack.prompts(guest.dm))
    assert "Handbook" not in "".join(of_guest)
    assert of_guest[0] == "What can you do?"


async def test_a_home_tab_that_slack_does_not_take_harms_nothing(bot: Bot, stage: Stage) -> None:
    stage.slack.faults.next("views.publish", error="internal_error")
    with pytest.raises(AssertionError, match="was not published"):
        await stage.ada.opens_home(within=0.3)
    assert "What I know" in (await stage.ada.opens_home()).screen
