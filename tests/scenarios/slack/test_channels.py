"""Each channel settles when the bot answers, from what, for whom and to whom."""

from bot.channels.settings import ChannelSettings, Ingesters, Manner, WebUse
from tests.fakes.services import ScriptedLibrary, ScriptedWeb, page, passage
from tests.scenarios.slack.bot import LEAVE, Bot, Options, Stage, scripted


async def settle(bot: Bot, stage: Stage, settings: ChannelSettings) -> None:
    now = await bot.channels.of(stage.slack.team.id, stage.travel.id)
    choices = {name: getattr(settings, name) for name in settings.choices()}
    await bot.channels.save(
        stage.slack.team.id, stage.travel.id, ChannelSettings(**choices, version=now.version), by=stage.ada.id
    )


def posts_of_the_bot(stage: Stage) -> list[str]:
    return [post.ts for post in stage.travel.posts.values() if post.author.id == stage.slack.bot.id]


async def test_a_channel_that_changes_its_mind_is_heeded_from_the_next_message_on(either: Bot, stage: Stage) -> None:
    await settle(either, stage, ChannelSettings(manner=Manner.ALL))
    assert "16 weeks" in (await stage.asks("How many weeks?")).screen
    await settle(either, stage, ChannelSettings(manner=Manner.MENTION))
    await stage.ada.says("How many weeks now?", in_=stage.travel)
    await stage.slack.quiet(0.3)
    assert len(posts_of_the_bot(stage)) == 1
    assert "16 weeks" in (await stage.asks("@bot How many weeks?")).screen


async def test_the_settings_are_those_of_the_channel_whatever_it_is_called(bot: Bot, stage: Stage) -> None:
    await settle(bot, stage, ChannelSettings(manner=Manner.ALL))
    stage.slack.admin.renames(stage.travel, "trips")
    assert "16 weeks" in (await stage.asks("How many weeks?")).screen


async def test_where_it_is_switched_off_a_mention_is_told_privately_and_once_who_can_switch_it_on(
    either: Bot, stage: Stage
) -> None:
    await settle(either, stage, ChannelSettings(manner=Manner.OFF))
    await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    told = await stage.ada.is_shown("I am switched off in this channel", in_=stage.travel)
    assert "Any of its members can switch me on with /crag-settings" in told.screen
    await stage.ada.says("And the second?", in_=stage.travel)
    await stage.slack.quiet(0.3)
    assert len([post for post in stage.travel.shown if post.only_for == stage.ada.id]) == 1
    assert not posts_of_the_bot(stage)
    private = await stage.ada.runs("/crag-ask How many weeks?", in_=stage.travel, saying="switched off")
    assert "16 weeks" not in private.screen
    assert "16 weeks" in (await stage.asks("How many weeks?", in_=stage.ada.dm)).screen


async def test_a_channel_may_have_the_web_searched_always_at_the_askers_wish_or_never(stage: Stage) -> None:
    web = ScriptedWeb(pages=[page("A ferry takes 9 weeks.", title="Ferries")])
    async with stage.bot(scripted(library=ScriptedLibrary(spaces={}), web=web), Options(http=True)) as bot:
        assert "9 weeks" in (await stage.asks("@bot How long is the ferry?")).screen
        web.queries.clear()
        await settle(bot, stage, ChannelSettings(web=WebUse.ASK))
        offered = await stage.asks("@bot How long is the ferry?")
        assert "the web was not asked" in offered.screen
        await settle(bot, stage, ChannelSettings(web=WebUse.OFF))
        assert "web search is off here" in (await stage.asks("@bot How long is the ferry?")).screen
        assert not web.queries


async def test_a_channel_may_do_without_the_documents_for_everybody(stage: Stage) -> None:
    own = passage("Trains take 3 weeks.", title="Trains")
    library = ScriptedLibrary(spaces={"workspace": [LEAVE], f"{stage.slack.team.id}:{stage.travel.id}": [own]})
    async with stage.bot(scripted(library=library), Options(http=True)) as bot:
        await settle(bot, stage, ChannelSettings(workspace=False))
        reply = await stage.asks("@bot How many weeks?")
        assert "Trains" in reply.screen
        assert "16 weeks" not in reply.screen


async def test_an_answer_that_is_private_first_reaches_its_asker_alone_and_the_thread_goes_on_so(
    either: Bot, stage: Stage
) -> None:
    await settle(either, stage, ChannelSettings(private_first=True))
    bob = stage.joins("Bob")
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    await stage.ada.is_shown("the answer comes here, for you alone", in_=stage.travel)
    answer = await stage.ada.is_shown("16 weeks", in_=stage.travel)
    assert answer.post.only_for == stage.ada.id
    await bob.says("And for adoption, how many weeks?", in_=question)
    await stage.ada.says("And how many weeks for two?", in_=question)
    follow_up = await stage.ada.is_shown("16 weeks", in_=stage.travel, since=answer.ts)
    assert follow_up.post.thread_ts == question.ts
    await stage.slack.quiet(0.3)
    assert not posts_of_the_bot(stage)
    assert not [post for post in stage.travel.shown if post.only_for == bob.id]


async def test_what_was_answered_privately_is_forgotten_by_the_link_of_its_question(bot: Bot, stage: Stage) -> None:
    await settle(bot, stage, ChannelSettings(private_first=True))
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    await stage.ada.is_shown("16 weeks", in_=stage.travel)
    link = f"https://x.slack.com/archives/{stage.travel.id}/p{question.ts.replace('.', '')}"
    told = await stage.ada.runs(f"/crag-forget {link}", in_=stage.travel, saying="Forgotten")
    assert "Forgotten. Conversations: 1." in told.screen


async def test_bots_may_ask_as_often_as_the_channel_says(bot: Bot, stage: Stage) -> None:
    await settle(bot, stage, ChannelSettings(bots=True, bot_turns=1))
    other = stage.slack.other_bot("Robot")
    stage.travel.members.append(other.id)
    root = await other.says("@bot How many weeks?", in_=stage.travel)
    assert "16 weeks" in (await stage.slack.reply_to(root)).screen
    await other.says("@bot How many weeks again?", in_=root)
    await stage.slack.quiet(0.3)
    assert len(posts_of_the_bot(stage)) == 1


async def test_only_whom_the_channel_names_may_add_documents(bot: Bot, stage: Stage) -> None:
    bob, root = stage.joins("Bob"), stage.joins("Root", admin=True)
    await settle(bot, stage, ChannelSettings(ingest=Ingesters.NAMED, ingesters=(bob.id,)))
    line = "/crag-ingest text Trains\nTrains come first."
    assert "Only some people may add documents" in (await stage.ada.runs(line, in_=stage.travel)).screen
    assert "I am adding “Trains”" in (await bob.runs(line, in_=stage.travel)).screen
    assert "I am adding “Trains”" in (await root.runs(line, in_=stage.travel)).screen
    await settle(bot, stage, ChannelSettings(ingest=Ingesters.ADMINS))
    assert "Only admins may add documents" in (await bob.runs(line, in_=stage.travel)).screen
    shared = stage.ada.file("rules.txt", b"Planes need a reason.")
    message = await stage.ada.says("@bot ingest", in_=stage.travel, files=[shared])
    assert "Only admins may add documents" in (await stage.slack.reply_to(message)).screen
