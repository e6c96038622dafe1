"""Teams install the app by Slack's OAuth, use it side by side, take it out and install it again."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from sqlalchemy import func, select, update

from bot.slack.installing.pages import HEADERS, INSTALL, TITLE
from bot.slack.installing.tables import bots, installations, states
from crag_graph.phrases import speaking
from crag_graph.services import Services
from tests.fakes.services import ScriptedLibrary, ScriptedWriter, passage, trouble
from tests.scenarios.slack.bot import Bot, Options, Stage, running_bot, scripted
from tests.scenarios.slack.installers import Abroad, Installer, abroad, install, query_of


@pytest.fixture
def globex(stage: Stage) -> Abroad:
    return abroad(stage)


@pytest.fixture
def services(stage: Stage, globex: Abroad) -> Services:
    """Each team has its own rule for everybody, and one lies where only a single team's bot looks."""
    acme, other = stage.slack.team.id, globex.installation.team.id
    spaces = {
        f"{acme}:workspace": [passage("At Acme it is 16 weeks.", title="Acme")],
        f"{other}:workspace": [passage("At Globex it is 26 weeks.", title="Globex")],
        "workspace": [passage("At the operator's it is 99 weeks.", title="Operator")],
    }
    return scripted(library=ScriptedLibrary(spaces=spaces))


@pytest.fixture
async def bot(stage: Stage, services: Services) -> AsyncIterator[Bot]:
    async with stage.bot(services, Options(oauth=True)) as running:
        yield running


async def count(bot: Bot, table: object = bots) -> int:
    async with bot.engine.connect() as connection:
        return int((await connection.execute(select(func.count()).select_from(table))).scalar_one())  # type: ignore[arg-type] # a table


async def test_two_teams_install_ask_side_by_side_and_one_goes_and_comes_back(
    bot: Bot, stage: Stage, globex: Abroad
) -> None:
    page = await install(stage, bot, stage.ada)
    assert page.status_code == 200
    assert "It is now in Acme." in page.text
    assert "It is now in Globex." in (await install(stage, bot, globex.eve)).text

    acme = await stage.asks("@bot How many weeks?")
    assert "16 weeks" in acme.screen
    assert acme.author is stage.slack.bot
    there = await stage.asks("@bot How many weeks?", in_=globex.place, by=globex.eve)
    assert "26 weeks" in there.screen
    assert there.author is globex.installation.bot
    for reply in (acme, there):
        assert "99 weeks" not in reply.screen

    globex.admin.uninstalls()
    await stage.slack.until(lambda: stage.slack.deliveries[-1].ack)
    assert await count(bot) == await count(bot, installations) == 1
    assert "16 weeks" in (await stage.asks("@bot How many weeks?")).screen

    await install(stage, bot, globex.eve)
    assert "26 weeks" in (await stage.asks("@bot How many weeks?", in_=globex.place, by=globex.eve)).screen


async def test_whoever_only_revokes_the_token_has_taken_the_app_out(bot: Bot, stage: Stage) -> None:
    await install(stage, bot, stage.ada)
    stage.slack.admin.revokes_token()
    await stage.slack.until(lambda: stage.slack.deliveries[-1].ack)
    assert await count(bot) == 0


async def test_an_event_that_comes_late_takes_nothing_away_that_was_installed_since(bot: Bot, stage: Stage) -> None:
    await install(stage, bot, stage.ada)
    for event in ({"type": "app_uninstalled"}, {"type": "tokens_revoked", "tokens": {"oauth": ["U1"], "bot": []}}):
        told = stage.slack.network.sends(event)
        await stage.slack.until(lambda told=told: told.ack)  # type: ignore[misc] # bound at once
    assert await count(bot) == 1
    assert "16 weeks" in (await stage.asks("@bot How many weeks?")).screen


async def test_what_waits_for_a_team_that_is_gone_ends_without_a_call_of_slack(
    stage: Stage, services: Services
) -> None:
    """The event of the removal never came: no process was there to hear it."""
    async with stage.bot(services, Options(oauth=True, works=False)) as deaf:
        await install(stage, deaf, stage.ada)
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        await stage.slack.until(lambda: stage.slack.deliveries[-1].ack)
    stage.slack.installation.revoked = "account_inactive"
    stage.slack.platform.calls.clear()
    async with stage.bot(services, Options(oauth=True)) as bot:
        await stage.slack.until(lambda: stage.slack.calls("auth.test"))
        await stage.slack.quiet()
        assert {call.method for call in stage.slack.calls()} == {"auth.test"}
        assert await bot.inbox.claim(f"{stage.slack.team.id}:{stage.travel.id}:{question.ts}") is None
        assert await count(bot) == 0


async def test_another_process_that_still_knows_the_team_stops_too(stage: Stage, services: Services) -> None:
    async with stage.bot(services, Options(oauth=True, works=False)) as first:
        await install(stage, first, stage.ada)
        async with running_bot(
            stage.slack, stage.database_url, stage.folder, services=services, options=Options(oauth=True)
        ) as second:
            await stage.asks("@bot How many weeks?")
            stage.slack.admin.uninstalls()
            await stage.slack.until(lambda: stage.slack.deliveries[-1].ack)
            assert await first.slack.teams.of(stage.slack.team.id) is None
            assert await second.slack.teams.of(stage.slack.team.id) is None


async def test_a_token_that_goes_while_an_answer_is_made_ends_the_work(stage: Stage, services: Services) -> None:
    writer = services.writer
    assert isinstance(writer, ScriptedWriter)
    async with stage.bot(services, Options(oauth=True)) as bot:
        await install(stage, bot, stage.ada)
        await stage.asks("@bot How many weeks?")
        writer.trouble = trouble(generate=[0.5])
        question = await stage.ada.says("@bot How many weeks now?", in_=stage.travel)
        await stage.slack.until(lambda: stage.slack.deliveries[-1].ack)
        stage.slack.installation.revoked = "token_revoked"
        conversation = f"{stage.slack.team.id}:{stage.travel.id}:{question.ts}"
        async with asyncio.timeout(20):
            while await count(bot):  # noqa: ASYNC110 - the database has no event
                await asyncio.sleep(0.05)
        await stage.slack.quiet()
        assert await bot.inbox.claim(conversation) is None


async def test_each_bot_ignores_only_itself(bot: Bot, stage: Stage, globex: Abroad) -> None:
    for person in (stage.ada, globex.eve):
        await install(stage, bot, person)
    known = [await bot.slack.teams.of(one.team.id) for one in (stage.slack.installation, globex.installation)]
    assert [team.me.user for team in known if team] == [stage.slack.bot.id, globex.installation.bot.id]
    assert await bot.slack.teams.of("T404") is None
    assert await bot.slack.teams.of(None) is None


async def test_a_command_in_a_team_without_the_app_is_told_so(bot: Bot, stage: Stage) -> None:
    shown = await stage.ada.runs("/crag-ask How many weeks?", in_=stage.travel)
    assert "not installed in your workspace" in shown.screen


async def test_a_state_is_good_once_in_one_browser_and_not_for_long(bot: Bot, stage: Stage) -> None:
    stage.slack.at_the_browser(stage.ada)
    browser, other = Installer(bot), Installer(bot)
    back = await browser.allows(await browser.begins())
    await other.begins()
    for stranger in (other, Installer(bot)):
        refused = await stranger.opens(back)
        assert refused.status_code == 400
        assert "not begun in this browser" in refused.text
    assert (await browser.opens(back)).status_code == 200
    again = await browser.opens(back)
    assert again.status_code == 401
    assert "done already" in again.text

    late = await browser.allows(await browser.begins())
    async with bot.engine.begin() as connection:
        past = datetime.now(UTC).replace(tzinfo=None) - timedelta(seconds=1)
        await connection.execute(update(states).values(expire_at=past))
    assert (await browser.opens(late)).status_code == 401
    await browser.begins()
    assert await count(bot, states) == 1  # what is too old is cleared away


async def test_two_answers_with_one_state_at_once_install_once(bot: Bot, stage: Stage) -> None:
    stage.slack.at_the_browser(stage.ada)
    browser = Installer(bot)
    back = await browser.allows(await browser.begins())
    pages = await asyncio.gather(*(browser.opens(back) for _ in range(4)))
    assert sorted(page.status_code for page in pages) == [200, 401, 401, 401]


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("error=access_denied", 200, "Permission was not given"),
        ("error=%3Cscript%3Ealert(1)%3C/script%3E", 200, "did not confirm"),
        ("state=%00&code=%00", 400, "not begun in this browser"),
        ("", 400, "not begun in this browser"),
        ("state=%ED%A0%80&code=x", 400, "not begun in this browser"),
    ],
)
async def test_what_does_not_come_from_slack_is_told_apart_and_not_echoed(
    bot: Bot, query: str, status: int, says: str
) -> None:
    page = await Installer(bot).opens(f"/slack/oauth_redirect?{query}")
    assert page.status_code == status
    assert says in page.text
    assert "<script" not in page.text
    assert f'href="{INSTALL}"' in page.text
    assert {name: page.headers[name] for name in HEADERS} == HEADERS


async def test_a_code_that_slack_does_not_know_installs_nothing_and_is_told(bot: Bot, stage: Stage) -> None:
    stage.slack.at_the_browser(stage.ada)
    browser = Installer(bot)
    state = query_of(await browser.begins())["state"]
    page = await browser.opens(f"/slack/oauth_redirect?code=forged&state={state}")
    assert page.status_code == 401
    assert "did not confirm" in page.text
    assert "forged" not in page.text
    assert await count(bot) == 0


async def test_slack_that_does_not_answer_is_told_as_such(bot: Bot, stage: Stage) -> None:
    stage.slack.at_the_browser(stage.ada)
    browser = Installer(bot)
    back = await browser.allows(await browser.begins())
    stage.slack.faults.next("oauth.v2.access", drop=True, times=None)
    page = await browser.opens(back)
    assert page.status_code == 503
    assert "try again shortly" in page.text


async def test_an_installation_for_a_whole_organisation_is_refused_with_the_way_out(bot: Bot, stage: Stage) -> None:
    stage.slack.platform.org_wide = True
    page = await install(stage, bot, stage.ada)
    assert page.status_code == 500
    assert "install it in one workspace" in page.text
    assert await count(bot) == await count(bot, installations) == 0


async def test_installed_twice_it_stands_there_once(bot: Bot, stage: Stage) -> None:
    for _ in range(2):
        await install(stage, bot, stage.ada)
    assert await count(bot) == await count(bot, installations) == 1


async def test_a_token_that_expires_is_renewed_before_it_does(bot: Bot, stage: Stage) -> None:
    stage.slack.platform.rotating = True
    await install(stage, bot, stage.ada)
    before = stage.slack.bot_token
    await stage.asks("@bot How many weeks?")
    assert stage.slack.bot_token == before
    async with bot.engine.begin() as connection:
        soon = datetime.now(UTC).replace(tzinfo=None) + timedelta(minutes=5)
        await connection.execute(update(bots).values(bot_token_expires_at=soon))
    await asyncio.gather(*(bot.slack.teams.of(stage.slack.team.id) for _ in range(4)))
    assert stage.slack.installation.renewals == 1
    assert "16 weeks" in (await stage.asks("@bot How many weeks?")).screen
    assert stage.slack.bot_token != before


async def test_a_refresh_token_that_slack_no_longer_takes_ends_the_installation(bot: Bot, stage: Stage) -> None:
    stage.slack.platform.rotating = True
    await install(stage, bot, stage.ada)
    stage.slack.installation.renewals = 7
    async with bot.engine.begin() as connection:
        await connection.execute(update(bots).values(bot_token_expires_at=datetime.now(UTC).replace(tzinfo=None)))
    assert await bot.slack.teams.of(stage.slack.team.id) is None
    assert await count(bot) == 0


async def test_the_page_speaks_the_language_that_the_browser_asks_for(bot: Bot) -> None:
    accepted = {"pt-BR,pt;q=0.9,en;q=0.8": "pt", "nl,de-AT;q=0.7": "de", "nl": "en", "": "en"}
    for header, language in accepted.items():
        async with httpx.AsyncClient() as browser:
            page = (await browser.get(f"{bot.address}{INSTALL}", headers={"accept-language": header})).text
        assert f'<html lang="{language}">' in page
        with speaking(language):
            assert TITLE() in page
