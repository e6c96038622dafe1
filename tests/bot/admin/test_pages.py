from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from psycopg import AsyncConnection
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.desk import Desk
from bot.admin.gaps import harmless
from bot.database.engine import JOBS_SCHEMA, with_schema
from bot.jobs import Kind, open_queue
from bot.traces.erasing import erase_conversation
from bot.traces.feedback import give_feedback
from bot.traces.gaps import list_gaps
from crag_graph.embedding import Vectors
from crag_graph.knowledge.attached import Attached
from crag_graph.knowledge.sources import Upload
from crag_graph.services import ModelBusyError
from tests.bot.admin.conftest import Ask, Browser, browser, sign_in


async def unhelpful(engine: AsyncEngine, trace: str) -> str:
    await give_feedback(engine, team="T1", trace=trace, person="U1", helpful=False)
    return trace


async def test_questions_of_one_meaning_are_one_gap(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    await unhelpful(engine, await ask("Who waters the plants?"))
    newest = await unhelpful(engine, await ask("Who waters the plants??"))
    await unhelpful(engine, await ask("zzz xxx qqq"))
    await ask("A question that was answered well")
    page = (await admin.opens("/admin/gaps")).text
    assert page.count('<article class="gap">') == 2
    assert "answered well" not in page
    largest = (await list_gaps(engine, team="T1"))[0]
    assert (largest.questions, largest.rated, largest.run, largest.state) == (2, 2, newest, "open")


async def test_a_gap_is_settled_and_opens_again_when_the_question_comes_back(
    admin: Browser, ask: Ask, engine: AsyncEngine
) -> None:
    await unhelpful(engine, await ask("Who waters the plants?"))
    page = await admin.opens("/admin/gaps")
    gap = (await list_gaps(engine, team="T1"))[0].id
    settled = await admin.submits(page, f"/admin/gaps/{gap}/state", state="fixed")
    assert '<span class="badge fixed">' in settled.text
    assert "No gap is open" in (await admin.opens("/admin/gaps?state=open")).text
    await unhelpful(engine, await ask("Who waters the plants?"))
    assert '<span class="badge open">' in (await admin.opens("/admin/gaps")).text


async def test_what_a_reviewer_found_good_is_no_gap(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    trace = await unhelpful(engine, await ask())
    await admin.submits(await admin.opens(f"/admin/traces/{trace}"), f"/admin/traces/{trace}/review", rating="good")
    assert "There are no gaps" in (await admin.opens("/admin/gaps")).text


async def test_a_group_is_asked_again_and_shows_what_came_of_it(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    await unhelpful(engine, await ask("How long is leave?"))
    await unhelpful(engine, await ask("How long is LEAVE?"))
    await admin.opens("/admin/gaps")
    gap = (await list_gaps(engine, team="T1"))[0].id
    page = await admin.submits(await admin.opens(f"/admin/gaps/{gap}"), f"/admin/gaps/{gap}/again")
    assert page.text.count("Run again ") == 1  # one wording, asked once
    assert "ran a gap again" in (await admin.opens("/admin/audit")).text


async def test_an_erased_question_leaves_its_gap(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    await unhelpful(engine, await ask("Is my burn-out covered?"))
    await admin.opens("/admin/gaps")
    await erase_conversation(engine, "T1:C1:1")
    assert "There are no gaps" in (await admin.opens("/admin/gaps")).text


async def test_without_the_embedding_model_the_groups_of_before_are_shown(
    desk: Desk, ask: Ask, engine: AsyncEngine
) -> None:
    class Away:
        name = "letters"
        dimensions = 26

        async def embed(self, texts: object) -> Vectors:
            raise ModelBusyError

    async with browser(desk) as before:
        await sign_in(before, desk)
        await unhelpful(engine, await ask("Who waters the plants?"))
        await before.opens("/admin/gaps")
    await unhelpful(engine, await ask("zzz xxx qqq"))
    async with browser(replace(desk, embedder=Away())) as admin:
        await sign_in(admin, desk)
        page = (await admin.opens("/admin/gaps")).text
    assert "The embedding model does not answer" in page
    assert "plants" in page
    assert "1 more question waits" in page


async def test_a_spreadsheet_computes_nothing_of_the_gaps(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    await unhelpful(engine, await ask('=HYPERLINK("http://evil.example","leave")'))
    await admin.opens("/admin/gaps")
    sheet = await admin.opens("/admin/gaps.csv")
    assert sheet.headers["content-type"].startswith("text/csv")
    assert "attachment" in sheet.headers["content-disposition"]
    assert "\"'=HYPERLINK(" in sheet.text


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1"])
def test_a_cell_that_would_be_computed_becomes_text(cell: str) -> None:
    assert harmless(cell) == f"'{cell}"
    assert harmless("How long?") == "How long?"


async def test_the_overview_counts_and_each_number_leads_to_its_traces(
    admin: Browser, ask: Ask, engine: AsyncEngine
) -> None:
    await unhelpful(engine, await ask())
    trace = await ask()
    await admin.submits(await admin.opens(f"/admin/traces/{trace}"), f"/admin/traces/{trace}/again")
    for days in (7, 30, 90, 365):
        page = (await admin.opens(f"/admin/overview?days={days}")).text
        assert "<strong>2</strong><span>questions</span>" in page  # another run is no question
        assert "0%</strong><span>helpful, of 1 opinions" in page
        assert "verdict=correct" in page
        assert page.count('<svg xmlns="http://www.w3.org/2000/svg"') == 2
        assert "style=" not in page
    assert (await admin.opens("/admin/overview?days=x")).status_code == 400


async def test_an_empty_installation_has_an_overview(admin: Browser) -> None:
    assert "Nobody asked anything" in (await admin.opens("/admin/overview")).text


async def test_the_cost_is_by_the_table_of_prices(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    trace = await ask()
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE runs SET prompt_tokens = 1000000, completion_tokens = 500000"))
    assert "$2.00" in (await admin.opens("/admin/traces")).text
    assert "$2.00" in (await admin.opens("/admin/overview")).text
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE runs SET model = 'unheard-of'"))
    assert "no price" in (await admin.opens("/admin/traces")).text
    assert trace


async def test_the_library_shows_what_is_cited_what_failed_and_whose_it_is(
    desk: Desk, admin: Browser, ask: Ask, engine: AsyncEngine, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 nothing")
    for path, space in ((tmp_path / "Leave.md", "workspace"), (tmp_path / "secret.md", "T2:C1"), (broken, "T1:C1")):
        if path.suffix == ".md":
            path.write_text("# Leave\n\nParents get 16 weeks.", "utf-8")
        async for _ in desk.ingest.ingest(path, space=space, added_by="U1"):
            pass
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE documents SET source = 'Leave.md' WHERE source LIKE '%Leave.md'"))
    await ask()
    page = (await admin.opens("/admin/library")).text
    assert "secret.md" not in page
    assert "It cannot be read as a PDF" in page
    assert 'data-name="Cited" class="number">1<' in page
    assert "Leave.md" not in (await admin.opens("/admin/library?cited=no")).text
    assert "broken" not in (await admin.opens("/admin/library?state=ready")).text
    assert "broken" not in (await admin.opens("/admin/library?space=workspace")).text
    assert "Leave.md" in (await admin.opens("/admin/library?q=LEAVE")).text
    assert (await admin.opens("/admin/library?state=lost")).status_code == 400
    assert (await admin.opens("/admin/library?before=x")).status_code == 400
    assert (await admin.opens("/admin/library/2")).status_code == 404


async def test_what_came_with_a_question_is_not_shown_unless_it_is_kept(desk: Desk, admin: Browser) -> None:
    thread, offer = "T1:C1:1.0", Upload(filename="offer.md", data=b"310 euros", source="F1", title="offer.md")
    async for _ in desk.ingest.ingest(offer, space=thread, added_by="U1", kept=False):
        pass
    page = (await admin.opens("/admin/library")).text
    assert "offer.md" not in page
    assert thread not in page
    assert (await admin.opens("/admin/library/1")).status_code == 404
    await Attached(engine=desk.engine).keep(thread, ["F1"], space="T1:C1", by="U1")
    assert "offer.md" in (await admin.opens("/admin/library")).text


async def test_a_document_is_read_again_and_removed(desk: Desk, admin: Browser, tmp_path: Path) -> None:
    path = tmp_path / "leave.md"
    path.write_text("# Leave\n\nParents get 16 weeks.", "utf-8")
    async for _ in desk.ingest.ingest(path, space="workspace", added_by="U1"):
        pass
    path.write_text("# Leave\n\nParents get 26 weeks.", "utf-8")
    page = await admin.submits(await admin.opens("/admin/library"), "/admin/library/1/ingest")
    assert "being read again" in page.text
    for errand in tuple(desk.errands):
        await errand
    shown = await admin.opens("/admin/library/1")
    assert "26 weeks" in shown.text
    assert "outcome: replaced" in (await admin.opens("/admin/audit")).text
    await admin.submits(shown, "/admin/library/1/remove")
    assert (await admin.opens("/admin/library/1")).status_code == 404
    assert "removed a document" in (await admin.opens("/admin/audit")).text


async def test_jobs_are_shown_with_their_reason_and_tried_again(
    admin: Browser, ask: Ask, engine: AsyncEngine, database_url: str
) -> None:
    await ask(conversation="T1:C1:1")
    async with open_queue(with_schema(database_url, JOBS_SCHEMA)) as queue:
        await queue.put(Kind.ANSWER, "T1:C1:1")
        await queue.put(Kind.ANSWER, "T2:C1:secret")
        await queue.put(Kind.INGEST, "ingest:T1:C1:https://example.com/a")
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE runs SET error = 'OverdueError: too late'"))
    async with await AsyncConnection.connect(with_schema(database_url, JOBS_SCHEMA)) as jobs:
        await jobs.execute(
            "UPDATE procrastinate_jobs SET attempts = 3, scheduled_at = now() + interval '1 hour'"
            " WHERE args->>'subject' = 'T1:C1:1'"
        )
    page = await admin.opens("/admin/jobs")
    assert "OverdueError: too late" in page.text
    assert "after 3 tries" in page.text
    assert "https://example.com/a" in page.text
    assert "secret" not in page.text
    retried = await admin.submits(page, "/admin/jobs/1/retry")
    assert "next " not in retried.text
    token = page.text.split('name="form_token" value="')[1].split('"')[0]
    assert (await admin.client.post("/admin/jobs/2/retry", data={"form_token": token})).status_code == 404


async def test_filters_that_are_one_click_away_add_up(desk: Desk, ask: Ask, engine: AsyncEngine) -> None:
    trace = await unhelpful(engine, await ask())
    today = datetime.now(UTC)
    async with browser(replace(desk, now=lambda: today)) as admin:
        await sign_in(admin, desk)
        page = (await admin.opens("/admin/traces?feedback=unhelpful")).text
        assert f"feedback=unhelpful&amp;since={today.date()}&amp;until={today.date()}" in page
        assert 'href="/admin/traces" aria-current="true">Not helpful' in page
        both = await admin.opens(f"/admin/traces?feedback=unhelpful&since={today.date()}&until={today.date()}")
        assert trace in both.text
