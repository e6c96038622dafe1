"""People feed the library from Slack and tend it; what is added in a place is seen in that place."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web as http

from bot.slack.incoming import WORKSPACE
from crag_graph.knowledge.documents import StoredDocument
from tests.scenarios.slack.bot import Bot, Options, Stage, scripted

PAGE = (
    "<html><head><title>Travel rules</title></head><body><p>Trains come first. Planes need a reason.</p></body></html>"
)


class Site:
    """A web page that the bot may fetch."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.page = PAGE
        self.delay = 0.0


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async def serve(_: http.Request) -> http.Response:
        await asyncio.sleep(made.delay)
        if not made.page:
            return http.Response(status=404)
        return http.Response(text=made.page, content_type="text/html")

    app = http.Application()
    app.router.add_get("/rules", serve)
    runner = http.AppRunner(app)
    await runner.setup()
    await http.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    made = Site(f"http://{host}:{port}/rules")
    yield made
    await runner.cleanup()


@pytest.fixture
async def bot(stage: Stage) -> AsyncIterator[Bot]:
    options = Options(http=True, fetch_allow=("127.0.0.1",), admins=frozenset({stage.ada.id}))
    async with stage.bot(scripted(), options) as running:
        yield running


async def documents(bot: Bot, *spaces: str) -> tuple[StoredDocument, ...]:
    return await bot.library.documents(spaces or None)


async def test_an_address_is_added_to_the_channel_and_one_message_tells_how_it_goes(
    bot: Bot, stage: Stage, site: Site
) -> None:
    ack = await stage.ada.runs(f"/crag-ingest {site.address}", in_=stage.travel)
    assert "I am adding http://127.0.0.1" in ack.screen
    told = await stage.ada.is_shown("Added Travel rules", in_=stage.travel)
    assert "It can be asked about in #travel alone." in told.screen
    assert len([post for post in stage.travel.posts.values() if post.author.is_bot]) == 1
    (document,) = await documents(bot)
    assert (document.space, document.source) == (f"{stage.slack.team.id}:{stage.travel.id}", site.address)
    assert document.added_by == stage.ada.id


async def test_the_same_address_again_is_unchanged_and_a_new_version_replaces(
    bot: Bot, stage: Stage, site: Site
) -> None:
    await stage.ada.runs(f"/crag-ingest {site.address}", in_=stage.travel)
    await stage.ada.is_shown("Added Travel rules", in_=stage.travel)
    await stage.ada.runs(f"/crag-ingest {site.address}", in_=stage.travel)
    await stage.ada.is_shown("Unchanged: Travel rules", in_=stage.travel)
    site.page = PAGE.replace("Planes", "Boats")
    await stage.ada.runs("/crag-ingest refresh all", in_=stage.travel)
    await stage.ada.is_shown("Replaced by its new version", in_=stage.travel)
    assert len(await documents(bot)) == 1


async def test_pasted_text_and_shared_files_are_added(bot: Bot, stage: Stage) -> None:
    await stage.ada.runs("/crag-ingest text Dress code\nWear what you like & <smile>.", in_=stage.travel)
    await stage.ada.is_shown("Added Dress code", in_=stage.travel)
    plan = stage.ada.file("plan.md", b"# The plan\n\nWe go by train.")
    shared = await stage.ada.says("@bot please ingest this", in_=stage.travel, files=[plan])
    await stage.slack.reply_to(shared, saying="Added The plan")
    short = await stage.ada.says("@bot add", in_=stage.travel, files=[stage.ada.file("more.txt", b"More words.")])
    await stage.slack.reply_to(short, saying="Added more")
    titles = {document.title for document in await documents(bot)}
    assert titles == {"Dress code", "The plan", "more"}
    passages = [p for d in await documents(bot) for p in await bot.library.passages(d.id) if d.title == "Dress code"]
    assert "Wear what you like & <smile>." in passages[0].text


async def test_a_file_that_slack_does_not_give_is_not_taken_for_its_login_page(bot: Bot, stage: Stage) -> None:
    stage.slack.admin.takes_scope("files:read")
    shared = await stage.ada.says("@bot ingest", in_=stage.travel, files=[stage.ada.file("a.pdf", b"%PDF-1.7")])
    await stage.slack.reply_to(shared, saying="lacks files:read")
    assert await documents(bot) == ()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/crag-ingest", "What I can do with the library"),
        ("/crag-ingest help", "What I can do with the library"),
        ("/crag-ingest something", "is not an address that I can fetch"),
        ("/crag-ingest /etc/passwd", "is not an address that I can fetch"),
        ("/crag-ingest https://a.test https://b.test", "is not an address that I can fetch"),
        ("/crag-ingest text", "Give the text a title"),
        ("/crag-ingest text Only a title", "Give the text a title"),
        ("/crag-ingest list", "There is nothing here yet"),
        ("/crag-ingest status", "Passages that can be asked about: 0."),
        ("/crag-ingest remove", "Name a document by its number"),
        ("/crag-ingest remove 99", "There is no document 99 here"),
        ("/crag-ingest refresh x", "There is no document x here"),
        ("/crag-ingest refresh all", "There is nothing to fetch again"),
    ],
)
async def test_wrong_use_is_explained_at_once(bot: Bot, stage: Stage, line: str, said: str) -> None:
    shown = await stage.ada.runs(line, in_=stage.travel)
    assert said in shown.screen
    assert shown.is_private
    assert await documents(bot) == ()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("file:///etc/passwd", "Not added"),
        ("http://169.254.169.254/latest/meta-data", "Not added"),
        ("http://localhost:1/x", "Not added"),
    ],
)
async def test_addresses_that_may_not_be_fetched_are_refused_honestly(
    bot: Bot, stage: Stage, address: str, said: str
) -> None:
    await stage.ada.runs(f"/crag-ingest {address}", in_=stage.travel)
    await stage.ada.is_shown(said, in_=stage.travel)


async def test_a_failed_document_says_why_and_stands_in_the_list(bot: Bot, stage: Stage, site: Site) -> None:
    site.page = ""
    await stage.ada.runs(f"/crag-ingest {site.address}", in_=stage.travel)
    told = await stage.ada.is_shown("Not added", in_=stage.travel)
    assert "does not give the document" in told.screen
    listed = await stage.ada.runs("/crag-ingest list", in_=stage.travel)
    assert "failed" in listed.screen


async def test_only_who_added_a_document_or_an_admin_removes_it(bot: Bot, stage: Stage) -> None:
    bob, eve = stage.joins("Bob"), stage.joins("Eve")
    await bob.runs("/crag-ingest text Bob's rules\nBe kind.", in_=stage.travel)
    await bob.is_shown("Added Bob's rules", in_=stage.travel)
    (document,) = await documents(bot)
    assert "Bob's rules" in (await eve.runs("/crag-ingest list", in_=stage.travel)).screen
    refused = await eve.runs(f"/crag-ingest remove {document.id}", in_=stage.travel)
    assert "or an admin may remove" in refused.screen
    assert "Removed" in (await bob.runs(f"/crag-ingest remove {document.id}", in_=stage.travel)).screen
    assert await documents(bot) == ()


async def test_only_admins_add_for_everybody_and_only_in_public_channels(bot: Bot, stage: Stage) -> None:
    bob = stage.joins("Bob")
    refused = await bob.runs("/crag-ingest text Rules --workspace\nBe kind.", in_=stage.travel)
    assert "Only admins" in refused.screen
    said = await stage.ada.runs("/crag-ingest text Rules --workspace\nBe kind.", in_=stage.travel)
    assert "Everybody in the workspace" in said.screen
    await stage.ada.is_shown("Added Rules", in_=stage.travel)
    secret = stage.slack.channel("secret", members=[stage.ada, stage.slack.bot], private=True)
    await stage.ada.runs("/crag-ingest text Secrets --workspace\nPsst.", in_=secret)
    await stage.ada.is_shown("Added Secrets", in_=secret)
    assert {d.title: d.space for d in await documents(bot)} == {
        "Rules": WORKSPACE,
        "Secrets": f"{stage.slack.team.id}:{secret.id}",
    }


async def test_the_list_of_a_place_holds_nothing_of_another(bot: Bot, stage: Stage) -> None:
    await stage.ada.runs("/crag-ingest text Diary\nDear diary.", in_=stage.ada.dm)
    await stage.ada.is_shown("Added Diary", in_=stage.ada.dm)
    assert "Diary" not in (await stage.ada.runs("/crag-ingest list", in_=stage.travel)).screen
    assert "Diary" in (await stage.ada.runs("/crag-ingest list", in_=stage.ada.dm)).screen
    (document,) = await documents(bot)
    assert "no document" in (await stage.ada.runs(f"/crag-ingest remove {document.id}", in_=stage.travel)).screen


async def test_where_the_bot_is_no_member_the_asker_alone_is_told(bot: Bot, stage: Stage, site: Site) -> None:
    lounge = stage.slack.channel("lounge", members=[stage.ada])
    await stage.ada.runs(f"/crag-ingest {site.address}", in_=lounge)
    told = await stage.ada.is_shown("Added Travel rules", in_=lounge)
    assert told.is_private


async def test_a_slow_page_is_acknowledged_at_once(bot: Bot, stage: Stage, site: Site) -> None:
    site.delay = 2.0
    await stage.ada.runs(f"/crag-ingest {site.address}", in_=stage.travel)
    command = next(one for one in stage.slack.deliveries if one.payload.get("command"))
    assert command.ack_seconds is not None
    assert command.ack_seconds < 1
    await stage.ada.is_shown("Added Travel rules", in_=stage.travel)


async def test_what_was_shared_in_slack_is_not_fetched_again_from_its_login_page(bot: Bot, stage: Stage) -> None:
    shared = await stage.ada.says(
        "@bot ingest", in_=stage.travel, files=[stage.ada.file("plan.md", b"# Plan\n\nBy train.")]
    )
    await stage.slack.reply_to(shared, saying="Added Plan")
    assert "nothing to fetch again" in (await stage.ada.runs("/crag-ingest refresh all", in_=stage.travel)).screen
    await stage.slack.quiet()


async def test_long_lists_come_in_pages(bot: Bot, stage: Stage, tmp_path: Path) -> None:
    space = f"{stage.slack.team.id}:{stage.travel.id}"
    for number in range(17):
        path = tmp_path / f"document-{number:02}.txt"
        path.write_text(f"Words of {number}.")
        async for _ in bot.ingest.ingest(path, space=space, added_by=stage.ada.id):
            pass
    first = await stage.ada.runs("/crag-ingest list", in_=stage.travel)
    assert "2 more: /crag-ingest list 2" in first.screen
    second = await stage.ada.runs("/crag-ingest list 2", in_=stage.travel)
    assert "document-16" in second.screen
    assert "document-00" not in second.screen
    assert (
        "Passages that can be asked about: 17."
        in (await stage.ada.runs("/crag-ingest status", in_=stage.travel)).screen
    )
