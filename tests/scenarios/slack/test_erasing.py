"""Somebody is forgotten everywhere: after real work with the bot, every column of every table is looked through."""

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig
from slack_sdk.oauth.installation_store import Installation
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.admins import Admins
from bot.admin.links import Links
from bot.admin.sessions import Sessions
from bot.answering import Answering, Question
from bot.channels.settings import ChannelSettings, WebUse
from bot.channels.store import Channels
from bot.database.engine import MEMORY_SCHEMA, with_schema
from bot.erasing.export import export
from bot.erasing.holdings import HOLDINGS
from bot.experts.answers import Correction, Experts
from bot.memory import open_postgres
from bot.slack.installing.store import Installations
from bot.traces.feedback import give_feedback
from bot.traces.gaps import group, list_gaps, settle
from bot.traces.reading import Filter, list_traces
from bot.traces.recorder import Recorder
from bot.traces.reviews import Review, add_review
from bot.traces.wishes import make_wish
from crag_graph.context import Policy
from crag_graph.knowledge.demotions import Against, Demotions
from tests.bot.conftest import quietly
from tests.fakes.services import ScriptedWriter, trouble
from tests.scenarios.slack.bot import Bot, LetterEmbedder, Options, Stage, scripted
from tests.slack_workspace import Person

SECRET = "zanzibarquest"
"""What nobody but the person says."""
NAME = "Ada Lovelacia"

COLUMNS = text(
    "SELECT table_schema AS schema, table_name AS name, column_name AS field, data_type = 'bytea' AS bytes"
    " FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)"
    " WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('information_schema', 'pg_catalog')"
)


async def places_of(engine: AsyncEngine, *needles: str) -> dict[str, set[str]]:
    """Every column in which one of these words stands, by table."""
    places: dict[str, set[str]] = {}
    async with engine.connect() as connection:
        for column in (await connection.execute(COLUMNS)).all():
            quoted = f'"{column.field}"'
            hay = f"encode({quoted}, 'escape')" if column.bytes else f"CAST({quoted} AS text)"
            query = text(f'SELECT count(*) FROM "{column.schema}"."{column.name}" WHERE position(:needle in {hay}) > 0')  # noqa: S608 - names of the database's own
            for needle in needles:
                if (await connection.execute(query, {"needle": needle})).scalar_one():
                    places.setdefault(f"{column.schema}.{column.name}", set()).add(column.field)
    return places


def in_files(folder: Path, *needles: str) -> list[str]:
    """The files of the memory in whose bytes one of these words stands."""
    files = folder.glob("memory.sqlite*")
    return [file.name for file in files if any(needle.encode() in file.read_bytes() for needle in needles)]


async def lives(bot: Bot, stage: Stage, engine: AsyncEngine, person: Person) -> None:
    """A person leaves something in every table that holds people: whoever registers a table adds to this."""
    team, bob = stage.slack.team.id, stage.joins("Bob")
    question = await person.says(f"@bot How many weeks of {SECRET}?", in_=stage.travel)
    await stage.slack.reply_to(question)
    await stage.asks("@bot And how many weeks for me?", in_=question, by=bob)
    await person.runs(f"/crag-ask How many weeks of {SECRET}?", in_=stage.travel, saying="16 weeks")
    await stage.asks(f"How many weeks of {SECRET}?", in_=person.dm, by=person)
    notes = person.file("notes.md", f"About {SECRET}.".encode())
    await stage.slack.reply_to(await person.says("@bot", in_=question, files=[notes]), saying="I have read")
    await person.runs("/crag-ingest text Dress code\nWear what you like.", in_=stage.travel, saying="Added")
    await person.runs(f"/crag-ingest text Diary\nDear {SECRET}.", in_=person.dm, saying="Added")
    await stage.asks("@bot How many weeks?", by=bob)
    (trace, *_) = [run["id"] for run in (await list_traces(engine, Filter(asker=bob.id))).runs]
    await give_feedback(engine, team=team, trace=trace, person=person.id, helpful=False, note=SECRET)
    (own, *_) = [run["id"] for run in (await list_traces(engine, Filter(asker=person.id))).runs]
    assert await make_wish(engine, team=team, trace=own, person=person.id)
    assert await demotes_a_passage(bot, engine, trace, person.id)
    await add_review(engine, Review(rating="wrong", note=SECRET), team=team, trace=trace, reviewer=person.id)
    await Experts(engine=engine, ingest=bot.ingest).correct(
        Correction(
            team=team,
            space=f"{team}:{stage.travel.id}",
            question="Who waters the plants?",
            answer="Ben does.",
            author=person.id,
            author_name=NAME,
            link=f"https://acme.slack.com/{person.id}",
        )
    )
    await keeps_the_gaps(engine, team, person.id)
    settings = ChannelSettings(web=WebUse.ASK, callable_people=(person.id, bob.id))
    await Channels(engine).save(team, stage.travel.id, settings, by=person.id)
    await signs_in(engine, team, person.id)
    await installs(engine, team, person.id)
    await remembers_in_postgres(stage, engine, team, person.id)
    async with engine.begin() as connection:
        await connection.execute(text("INSERT INTO budget_warnings VALUES (:team, current_date)"), {"team": team})
        await connection.execute(
            text(
                "INSERT INTO jobs.procrastinate_jobs (queue_name, task_name, lock, args, status)"
                " VALUES ('answers', 'answers', :subject, jsonb_build_object('subject', CAST(:subject AS text)), 'failed')"
            ),
            {"subject": f"{team}:{stage.travel.id}:private-{person.id}"},
        )


async def demotes_a_passage(bot: Bot, engine: AsyncEngine, trace: str, person: str) -> bool:
    """Of the document that the person has added, on somebody else's question."""
    async with engine.connect() as connection:
        found = await connection.execute(
            text(
                "SELECT documents.space, source, text FROM passages JOIN documents ON documents.id = document_id LIMIT 1"
            )
        )
        space, source, words = found.one()
    said = Against(question="How many weeks?", spaces=[space], source=source, text=words, run=trace)
    return await Demotions(engine=engine, embedder=bot.ingest.embedder).note(said, by=person)


async def keeps_the_gaps(engine: AsyncEngine, team: str, person: str) -> None:
    await group(engine, LetterEmbedder(), team=team, limit=10)
    gap, *_ = await list_gaps(engine, team=team)
    await settle(engine, gap.id, "written", team=team, person=person)


async def signs_in(engine: AsyncEngine, team: str, person: str) -> None:
    links = Links(engine, Admins(named=frozenset({person})), address="http://bot.test")
    link = await links.make_for(team, person)
    assert link
    admin = await links.use(link.rpartition("/")[2])
    assert admin
    await Sessions(engine).start(admin)


async def installs(engine: AsyncEngine, team: str, person: str) -> None:
    installed = Installation(
        app_id="A1",
        team_id=team,
        user_id=person,
        user_token="xoxp-1",
        bot_token="xoxb-1",
        bot_id="B1",
        bot_user_id="U0B",
    )
    await Installations(engine, "client").async_save(installed)


async def remembers_in_postgres(stage: Stage, engine: AsyncEngine, team: str, person: str) -> None:
    """As an installation does that has changed from one memory to the other."""
    address, conversation = with_schema(stage.database_url, MEMORY_SCHEMA), f"{team}:{stage.travel.id}:private-{person}"
    async with open_postgres(address, locks=stage.folder / "locks", connections=1) as memory:
        answering = Answering(
            services=scripted(),
            policy=Policy(),
            memory=memory,
            recorder=Recorder(engine, keep_texts=True, settings="", version=""),
            today=lambda: date(2026, 11, 30),
        )
        await answering.answer(
            Question(
                text=f"How many weeks of {SECRET}?",
                conversation=conversation,
                spaces=("workspace",),
                team=team,
                asker=person,
            ),
            quietly,
        )
        # What a run leaves that was killed half-way.
        place: RunnableConfig = {
            "configurable": {"thread_id": conversation, "checkpoint_ns": "", "checkpoint_id": "killed"}
        }
        await memory.saver.aput_writes(place, [("question", SECRET)], "task")


async def is_running(engine: AsyncEngine) -> None:
    """Until a question is being answered."""
    async with asyncio.timeout(10), engine.connect() as connection:
        while not (await connection.execute(text("SELECT count(*) FROM runs WHERE state = 'running'"))).scalar():
            await connection.rollback()
            await asyncio.sleep(0.05)


@pytest.fixture
async def bot(stage: Stage) -> AsyncIterator[Bot]:
    async with stage.bot(options=Options(http=True)) as running:
        yield running


async def test_who_is_forgotten_stands_in_no_table_and_no_file(bot: Bot, stage: Stage, engine: AsyncEngine) -> None:
    await lives(bot, stage, engine, stage.ada)
    before = await places_of(engine, stage.ada.id, SECRET, NAME)
    untried = [one.table for one in HOLDINGS if one.person and one.table not in before]
    assert not untried, f"lives() leaves nothing in {untried}: whether it is erased there is not known."
    assert in_files(stage.folder, SECRET)

    said = await stage.ada.runs("/crag-forget everything", in_=stage.travel, saying="Forgotten, everything")
    assert "conversations: 3" in said.screen
    await stage.slack.quiet()
    left = await places_of(engine, stage.ada.id, SECRET, NAME)
    assert not left, f"Of the person who was forgotten there is something left in {left}."
    assert in_files(stage.folder, SECRET, stage.ada.id) == []


async def test_a_team_that_is_erased_stands_in_no_table_and_no_file(
    bot: Bot, stage: Stage, engine: AsyncEngine
) -> None:
    await lives(bot, stage, engine, stage.ada)
    await stage.slack.quiet()
    team = stage.slack.team.id
    before = await places_of(engine, team)
    untried = [one.table for one in HOLDINGS if one.team and one.table not in before]
    assert not untried, f"lives() leaves nothing of the team in {untried}: whether it is erased there is not known."

    counts = (await bot.eraser.erase_team(team)).counts
    assert (counts["conversations"], counts["questions"], counts["documents"], counts["installations"]) == (4, 6, 4, 1)
    left = await places_of(engine, team, stage.ada.id, SECRET, NAME)
    assert not left, f"Of the team that was erased there is something left in {left}."
    assert in_files(stage.folder, SECRET, team) == []
    assert (await bot.eraser.erase_team(team)).counts == {}


async def test_who_is_forgotten_while_an_answer_is_written_is_not_remembered_by_it(
    stage: Stage, engine: AsyncEngine
) -> None:
    slow = scripted(writer=ScriptedWriter(trouble=trouble(generate=[30.0])))
    async with stage.bot(slow, Options(http=True)):
        await stage.ada.says(f"@bot How many weeks of {SECRET}?", in_=stage.travel)
        await is_running(engine)
        await stage.ada.runs("/crag-forget everything", in_=stage.travel, saying="Forgotten, everything")
        await stage.slack.quiet()
        assert not await places_of(engine, stage.ada.id, SECRET)
        assert in_files(stage.folder, SECRET, stage.ada.id) == []
        await stage.ada.runs("/crag-forget everything", in_=stage.travel, saying="There was nothing stored of you")


async def test_what_somebody_only_said_in_a_thread_of_others_is_erased_there_too(
    bot: Bot, stage: Stage, engine: AsyncEngine
) -> None:
    bob = stage.joins("Bob")
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    await stage.slack.reply_to(question)
    await bob.says(f"@Ada you mean {SECRET}", in_=question)
    await stage.asks("@bot And then how many weeks?", in_=question)
    assert await places_of(engine, bob.id) == {"public.runs": {"heard"}}
    assert in_files(stage.folder, question.ts)

    counts = (await bot.eraser.erase_person(bob.id)).counts
    assert counts == {"conversations": 1, "questions": 2}
    assert not await places_of(engine, bob.id, SECRET)
    assert in_files(stage.folder, question.ts) == []


async def test_what_is_given_out_of_a_person_is_theirs_and_nobody_elses(
    bot: Bot, stage: Stage, engine: AsyncEngine
) -> None:
    await lives(bot, stage, engine, stage.ada)
    exported = await export(engine, stage.ada.id)
    assert {question["question"] for question in exported["questions"]} == {f"How many weeks of {SECRET}?"}
    assert [vote["note"] for vote in exported["votes"]] == [SECRET]
    assert [review["note"] for review in exported["reviews"]] == [SECRET]
    assert {document["title"] for document in exported["documents"]} >= {"Dress code", "Diary"}
    assert [change["after"]["web"] for change in exported["changes of settings"]] == ["ask"]
    assert exported["expert answers"][0]["answer"] == "Ben does."
    assert "for me" not in str(exported)
    assert not (await export(engine, stage.ada.id, team="T9"))["questions"]
