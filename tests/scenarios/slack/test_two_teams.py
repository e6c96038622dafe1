"""Two teams ask, add, judge and tend the same things in one bot; nothing of one is ever shown to the other."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
from sqlalchemy import inspect, text

from bot.admin.admins import Admins
from bot.admin.desk import Desk, own_space
from bot.admin.links import Links
from bot.experts.answers import Experts
from bot.inbox import Inbox
from crag_graph.knowledge.sources import Upload
from tests.bot.admin.conftest import ADDRESS, Browser, browser, sign_in
from tests.fakes.services import ScriptedLibrary, ScriptedWeb, passage
from tests.scenarios.slack.bot import Bot, Options, Stage, scripted
from tests.scenarios.slack.installers import Abroad, abroad, install
from tests.slack_workspace import Message, Person
from tests.slack_workspace.world import Conversation

TEAM = {
    "documents": "split_part(space, ':', 1)",
    "passages": "split_part(space, ':', 1)",
    "demotions": "split_part(space, ':', 1)",
    "steps": "(SELECT team FROM runs WHERE id = run)",
    "gap_runs": "(SELECT team FROM runs WHERE id = run)",
    "slack_bots": "team_id",
    "slack_installations": "team_id",
}
"""Whose a row is, in the tables that have no column `team`."""
OF_NO_TEAM = {"alembic_version", "admin_key", "admin_sign_ins", "embedding_model", "slack_oauth_states"}


@dataclass(frozen=True, kw_only=True)
class Side:
    """One team as one of its admins lives in it."""

    id: str
    person: Person
    place: Conversation
    word: str
    """Stands in everything that is hers, and in nothing of the other team."""
    answer: Message
    document: int


@dataclass(frozen=True, kw_only=True)
class Both:
    bot: Bot
    desk: Desk
    sides: tuple[Side, Side]


@pytest.fixture
def globex(stage: Stage) -> Abroad:
    return abroad(stage)


@pytest.fixture
async def both(stage: Stage, globex: Abroad) -> AsyncIterator[Both]:
    acme, other = stage.slack.team.id, globex.installation.team.id
    admins = frozenset({f"{acme}:{stage.ada.id}", f"{other}:{globex.eve.id}"})
    spaces = {
        f"{acme}:workspace": [passage("Acme gives 16 weeks.", title="Acme's leave")],
        f"{other}:workspace": [passage("Globex gives 26 weeks.", title="Globex's leave")],
    }
    services = scripted(library=ScriptedLibrary(spaces=spaces), web=ScriptedWeb(available=False))
    async with stage.bot(services, Options(oauth=True, admins=admins)) as bot:
        sides = (
            await lives(stage, bot, stage.ada, stage.travel, "Acme"),
            await lives(stage, bot, globex.eve, globex.place, "Globex"),
        )
        yield Both(bot=bot, desk=desk_of(bot, Admins(named=admins)), sides=sides)


async def lives(stage: Stage, bot: Bot, person: Person, place: Conversation, word: str) -> Side:
    """Installs, asks, gets no answer, judges one, and adds a text here and for everybody."""
    await install(stage, bot, person)
    answer = await stage.asks("@bot How many weeks?", in_=place, by=person)
    await stage.asks("@bot What is the colour?", in_=place, by=person)
    await person.clicks("Helpful", on=answer)
    await person.runs(f"/crag-ingest text Rules\n{word} begins at nine.", in_=place, saying="Added")
    await person.runs(f"/crag-ingest text Holidays --workspace\n{word} closes in May.", in_=place, saying="in the work")
    listed = (await person.runs("/crag-ingest list", in_=place, saying="Rules")).screen
    found = re.search(r"(\d+) · \W*Rules", listed)
    assert found, listed
    team = person.account.team.id
    return Side(id=team, person=person, place=place, word=word, answer=answer, document=int(found[1]))


def desk_of(bot: Bot, admins: Admins) -> Desk:
    return Desk(
        engine=bot.engine,
        admins=admins,
        answering=bot.answering,
        embedder=bot.ingest.embedder,
        ingest=bot.ingest,
        experts=Experts(engine=bot.engine, ingest=bot.ingest),
        links=Links(bot.engine, admins, address=ADDRESS),
        everybody=own_space,
    )


async def teams_in(bot: Bot, table: str) -> set[str]:
    whose = TEAM.get(table, "team")
    async with bot.engine.connect() as connection:
        return {row[0] for row in await connection.execute(text(f"SELECT DISTINCT {whose} FROM {table}"))}  # noqa: S608 - of ours


async def test_every_row_that_is_stored_belongs_to_one_of_the_teams(both: Both) -> None:
    """A new table says here whose its rows are, or that it holds nothing of a team."""
    async with both.bot.engine.connect() as connection:
        tables = await connection.run_sync(lambda on: inspect(on).get_table_names())
    mine = {side.id for side in both.sides}
    found = {table: await teams_in(both.bot, table) for table in tables if table not in OF_NO_TEAM}
    assert {table: teams for table, teams in found.items() if not teams <= mine} == {}
    told = {"runs", "steps", "inbox", "documents", "passages", "feedback", "slack_bots", "slack_installations"}
    assert {table: found[table] for table in told} == dict.fromkeys(told, mine)


async def test_conversations_of_each_are_remembered_by_its_own_name(both: Both) -> None:
    async with both.bot.engine.connect() as connection:
        runs = (await connection.execute(text("SELECT team, conversation, spaces FROM runs"))).all()
    assert runs
    for team, conversation, spaces in runs:
        assert conversation.startswith(f"{team}:")
        assert all(space.startswith(f"{team}:") for space in spaces)


async def test_commands_list_and_remove_nothing_of_the_other_team(both: Both) -> None:
    for mine, theirs in (both.sides, both.sides[::-1]):
        listed = await mine.person.runs("/crag-ingest list", in_=mine.place, saying="Rules")
        numbers = [line.partition(" ·")[0] for line in listed.screen.splitlines()]
        assert str(mine.document) in numbers
        assert str(theirs.document) not in numbers
        assert "Documents here: 2." in (await mine.person.runs("/crag-ingest status", in_=mine.place)).screen
        for verb in ("remove", "refresh"):
            told = await mine.person.runs(
                f"/crag-ingest {verb} {theirs.document}", in_=mine.place, saying="no document"
            )
            assert "Removed" not in told.screen


async def test_an_answers_buttons_do_not_reach_the_other_teams_answer(both: Both) -> None:
    """As if somebody had forged the button's value."""
    mine, theirs = both.sides
    own, other = trace_of(mine.answer), trace_of(theirs.answer)
    await mine.person.clicks("How I got here", on=mine.answer)
    assert "Acme gives" in (await mine.person.sees_modal()).screen
    team = await both.bot.slack.teams.of(mine.id)
    assert team
    body = {"channel": {"id": theirs.place.id}}
    assert await team.traces.of(own, {"channel": {"id": mine.place.id}}) is not None
    assert await team.traces.of(other, body) is None


def trace_of(answer: Message) -> str:
    found = re.search(r"'value': '([0-9a-f-]{8,})'", str(answer.blocks))
    assert found
    return found[1]


async def test_forgetting_everything_leaves_the_other_teams_conversations(both: Both) -> None:
    mine, theirs = both.sides
    link = f"https://acme.slack.com/archives/{theirs.place.id}/p{theirs.answer.root.replace('.', '')}"
    refused = await mine.person.runs(f"/crag-forget {link}", in_=mine.place, saying="not yours")
    assert "Forgotten" not in refused.screen
    await mine.person.runs("/crag-forget everything", in_=mine.place, saying="Forgotten, everything")
    inbox = Inbox(both.bot.engine)
    assert await inbox.conversations_of(team=mine.id, person=mine.person.id) == ()
    assert len(await inbox.conversations_of(team=theirs.id, person=theirs.person.id)) == 2


async def test_the_review_pages_show_each_admin_the_own_team_alone(both: Both) -> None:
    for mine, theirs in (both.sides, both.sides[::-1]):
        async with browser(both.desk) as admin:
            await sign_in(admin, both.desk, team=mine.id, person=mine.person.id)
            await looks_around(admin, mine, theirs)


async def looks_around(admin: Browser, mine: Side, theirs: Side) -> None:
    for path in ("traces", "overview", "gaps", "library", "jobs", "audit", "traces?q=weeks", "gaps.csv"):
        page = await admin.opens(f"/admin/{path}")
        assert page.status_code == 200, path
        for sign in (theirs.id, theirs.word, theirs.person.id, theirs.place.id, trace_of(theirs.answer)):
            assert sign not in page.text, (path, sign)
    assert trace_of(mine.answer) in (await admin.opens("/admin/traces")).text
    assert f"/admin/library/{mine.document}" in (await admin.opens("/admin/library")).text
    for path in (f"traces/{trace_of(theirs.answer)}", f"library/{theirs.document}"):
        assert (await admin.opens(f"/admin/{path}")).status_code == 404, path
    assert (await admin.opens(f"/admin/library?space={theirs.id}:workspace")).text.count("Holidays") == 0


async def test_an_admin_of_one_team_is_none_in_the_other(both: Both) -> None:
    mine, theirs = both.sides
    for team, person in ((theirs.id, mine.person.id), (mine.id, theirs.person.id)):
        assert await both.desk.links.make_for(team, person) is None


async def test_what_the_operator_adds_for_nobody_is_seen_by_nobody(both: Both) -> None:
    plan = Upload(filename="plan.txt", data=b"Secret plan\n\nWe sell.", source="plan.txt")
    async for _ in both.bot.ingest.ingest(plan, space="workspace", added_by="terminal"):
        pass
    for side in both.sides:
        assert "Secret plan" not in (await side.person.runs("/crag-ingest list", in_=side.place, saying="Rules")).screen
        async with browser(both.desk) as admin:
            await sign_in(admin, both.desk, team=side.id, person=side.person.id)
            assert "Secret plan" not in (await admin.opens("/admin/library")).text


SAME = (
    "UPDATE runs SET channel = 'C1', asker = 'U1', conversation = team || ':C1:' || split_part(conversation, ':', 3)",
    "UPDATE feedback SET person = 'U1'",
    (
        "UPDATE inbox SET channel = 'C1', person = 'U1', conversation = team || ':C1:' || split_part(conversation, ':', 3) "
        "WHERE starts_with(conversation, team || ':')"
    ),
    "UPDATE documents SET added_by = 'U1', space = split_part(space, ':', 1) || ':C1' WHERE space NOT LIKE '%:workspace'",
)
"""Channels and people of the two teams have the same ids, as Slack never promised that they do not."""


async def test_the_same_ids_of_channels_and_people_in_both_teams_mix_nothing_up(both: Both) -> None:
    async with both.bot.engine.begin() as connection:
        for statement in SAME:
            await connection.exec_driver_sql(statement.replace("%", "%%"))
    named = Admins(named=frozenset(f"{side.id}:U1" for side in both.sides))
    desk = replace(both.desk, admins=named, links=Links(both.bot.engine, named, address=ADDRESS))
    inbox = Inbox(both.bot.engine)
    for mine, theirs in (both.sides, both.sides[::-1]):
        asked = await inbox.conversations_of(team=mine.id, person="U1")
        assert len(asked) == 2
        assert all(conversation.startswith(f"{mine.id}:C1:") for conversation in asked)
        async with browser(desk) as admin:
            await sign_in(admin, desk, team=mine.id, person="U1")
            for path in (
                "traces?person=U1&channel=C1",
                "overview",
                "gaps",
                "library",
                "library?space=" + mine.id + ":C1",
            ):
                page = (await admin.opens(f"/admin/{path}")).text
                for sign in (theirs.id, theirs.word, trace_of(theirs.answer)):
                    assert sign not in page, (path, sign)
            assert trace_of(mine.answer) in (await admin.opens("/admin/traces?person=U1&channel=C1")).text
