"""A message, its thread or its file is added to the library from the message itself, after a look at what is stored."""

import pytest

from crag_graph.domain import Passage
from crag_graph.knowledge.documents import StoredDocument
from tests.scenarios.slack.bot import Bot, Options, Stage
from tests.slack_workspace import Message, Person
from tests.slack_workspace.modal import Modal

HOSTILE = "<!channel> *bold* <https://evil.test|our wiki> &amp; @here"


async def opens(person: Person, on: Message) -> Modal:
    assert (await person.uses_shortcut("Add to library", on=on)).ok
    return await person.sees_modal("Add to library")


async def documents(bot: Bot) -> tuple[StoredDocument, ...]:
    return await bot.library.documents()


async def passages(bot: Bot) -> list[Passage]:
    return [passage for one in await documents(bot) for passage in await bot.library.passages(one.id)]


async def test_a_message_is_stored_as_it_was_shown_and_links_to_itself(either: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    message = await bob.says("The office in Oslo closes at 17:00.\nCall #travel first, Ada.", in_=stage.travel)
    modal = await opens(stage.ada, message)
    assert modal.fields == ["Title"]
    assert "The office in Oslo closes at 17:00.\nCall" in modal.screen
    assert "It can be asked about in #travel alone." in modal.screen
    outcome = await stage.ada.submits(modal, {"Title": "Oslo hours"})
    assert outcome.ok
    assert not modal.is_open
    await stage.slack.reply_to(message, saying="Added Oslo hours")
    (stored,) = await documents(either)
    assert (stored.title, stored.added_by) == ("Oslo hours", stage.ada.id)
    assert stored.space == f"{stage.slack.team.id}:{stage.travel.id}"
    assert stored.link == stored.source
    assert stored.source.endswith(f"/archives/{stage.travel.id}/p{message.ts.replace('.', '')}")
    (passage,) = await passages(either)
    assert "The office in Oslo closes at 17:00." in passage.text
    assert passage.link == stored.link


async def test_adding_it_again_replaces_it_and_the_same_changes_nothing(bot: Bot, stage: Stage) -> None:
    message = await stage.ada.says("Trains come first.", in_=stage.travel)
    await stage.ada.submits(await opens(stage.ada, message), {"Title": "Rules"})
    await stage.slack.reply_to(message, saying="Added Rules")
    await stage.ada.submits(await opens(stage.ada, message), {"Title": "Rules"})
    await stage.slack.reply_to(message, saying="Unchanged: Rules")
    await stage.ada.submits(await opens(stage.ada, message), {"Title": "Rules of travel"})
    await stage.slack.reply_to(message, saying="Replaced by its new version: Rules of travel")
    await stage.ada.edits(message, "Planes come first.")
    await stage.ada.submits(await opens(stage.ada, message), {"Title": "Rules of travel"})
    await stage.slack.until(lambda: [m.screen[:8] for m in stage.slack.replies(message)].count("Replaced") == 2 or None)
    (passage,) = await passages(bot)
    assert "Planes come first." in passage.text


async def test_the_whole_thread_is_shown_and_stored_with_who_said_what(bot: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    root = await bob.says("Where do we stay in Oslo?", in_=stage.travel)
    await stage.ada.says("At the hotel by the port.", in_=root)
    asked = await stage.ada.says("@bot How many weeks?", in_=root)
    await stage.slack.reply_to(asked, saying="16 weeks")
    modal = await opens(stage.ada, root)
    assert "by the port" not in modal.screen
    assert (await stage.ada.chooses("The whole thread", on=modal)).ok
    await stage.slack.until(lambda: "Ada, 20" in modal.screen)
    assert "At the hotel by the port." in modal.screen
    assert "16 weeks" not in modal.screen
    await stage.ada.chooses("This message", on=modal)
    await stage.slack.until(lambda: "by the port" not in modal.screen)
    assert "Where do we stay in Oslo?" in modal.screen
    await stage.ada.chooses("The whole thread", on=modal)
    await stage.slack.until(lambda: "by the port" in modal.screen)
    assert (await stage.ada.submits(modal, {"Title": "Hotels"})).ok
    await stage.slack.reply_to(root, saying="Added Hotels")
    text = "\n".join(passage.text for passage in await passages(bot))
    assert "Bob, 20" in text
    assert "At the hotel by the port." in text
    assert "16 weeks" not in text


async def test_a_choice_that_the_preview_does_not_show_yet_is_not_stored(bot: Bot, stage: Stage) -> None:
    root = await stage.ada.says("Where do we stay?", in_=stage.travel)
    await stage.ada.says("By the port.", in_=root)
    modal = await opens(stage.ada, root)
    outcome = await stage.ada.submits(modal, {"What to add": "The whole thread"})
    assert "Wait a moment" in str(outcome.errors)
    assert await documents(bot) == ()


async def test_a_file_is_stored_from_its_message(bot: Bot, stage: Stage) -> None:
    plan = stage.ada.file("plan.md", b"# The plan\n\nWe go by train.")
    message = await stage.ada.says("", in_=stage.travel, files=[plan])
    modal = await opens(stage.ada, message)
    assert "The file “plan.md” is fetched and read when you press Add." in modal.screen
    assert (await stage.ada.submits(modal)).ok
    await stage.slack.reply_to(message, saying="Added The plan")
    again = await opens(stage.ada, message)
    assert (await stage.ada.submits(again, {"Title": "Plan of 2026"})).ok
    await stage.slack.reply_to(message, saying="Replaced by its new version: Plan of 2026")
    assert [one.title for one in await documents(bot)] == ["Plan of 2026"]


async def test_where_the_bot_is_no_member_the_message_is_stored_and_the_thread_is_explained(
    bot: Bot, stage: Stage
) -> None:
    lounge = stage.slack.channel("lounge", members=[stage.ada], private=True)
    root = await stage.ada.says("The code is 4711.", in_=lounge)
    await stage.ada.says("Thanks.", in_=root)
    modal = await opens(stage.ada, root)
    await stage.ada.chooses("The whole thread", on=modal)
    await stage.slack.until(lambda: "I am not a member here" in modal.screen)
    assert "The code is 4711." in modal.screen
    assert (await stage.ada.submits(modal, {"Title": "Code"})).ok
    told = await stage.ada.is_shown("Added Code", in_=lounge)
    assert told.is_private
    assert [one.space for one in await documents(bot)] == [f"{stage.slack.team.id}:{lounge.id}"]


async def test_only_who_may_gives_it_to_everybody(stage: Stage) -> None:
    bob = stage.joins("Bob")
    message = await bob.says("Trains come first.", in_=stage.travel)
    async with stage.bot(options=Options(http=True, admins=frozenset({stage.ada.id}))) as bot:
        assert "Who can ask about it" not in (await opens(bob, message)).fields
        modal = await opens(stage.ada, message)
        await stage.ada.submits(modal, {"Title": "Rules", "Who can ask about it": "Everybody in the workspace"})
        await stage.slack.reply_to(message, saying="Everybody in the workspace can ask about it.")
        assert [one.space for one in await documents(bot)] == ["workspace"]


@pytest.mark.parametrize("length", [2_899, 2_901, 39_000])
async def test_long_and_hostile_messages_are_shown_and_stored_word_for_word(
    bot: Bot, stage: Stage, length: int
) -> None:
    said = f"{HOSTILE} {'word ' * (length // 5)}end"[-length:] if length < 39_000 else f"{HOSTILE} {'word ' * 7_000}end"
    message = await stage.ada.says(said, in_=stage.travel, as_typed=False)
    modal = await opens(stage.ada, message)
    assert (await stage.ada.submits(modal, {"Title": HOSTILE})).ok
    told = await stage.slack.reply_to(message, saying="Added")
    assert told.pings == frozenset()
    (stored,) = await documents(bot)
    text = " ".join(passage.text for passage in await bot.library.passages(stored.id))
    assert text.rstrip().endswith("word end")


async def test_what_has_no_text_and_what_the_bot_said_is_refused_with_a_reason(bot: Bot, stage: Stage) -> None:
    answer = await stage.asks("@bot How many weeks?")
    modal = await opens(stage.ada, answer)
    assert "This is a message of mine." in modal.screen
    await stage.ada.closes(modal)
    silent = await stage.ada.says("<@" + stage.slack.bot.id + ">", in_=stage.travel, as_typed=False)
    await stage.slack.reply_to(silent)
    other = stage.slack.other_bot("Feed")
    stage.travel.members.append(other.id)
    empty = await other.says("", in_=stage.travel)
    assert "There is no text in it that could be stored." in (await opens(stage.ada, empty)).screen
    assert await documents(bot) == ()


async def test_a_modal_that_comes_too_late_harms_nothing(bot: Bot, stage: Stage) -> None:
    message = await stage.ada.says("Trains come first.", in_=stage.travel)
    stage.slack.faults.next("views.open", error="expired_trigger_id")
    assert (await stage.ada.uses_shortcut("Add to library", on=message)).ok
    told = await stage.ada.is_shown("Slack closed", in_=stage.travel)
    assert told.is_private
    assert await documents(bot) == ()
