from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.desk import Desk
from tests.bot.admin.conftest import Ask, Browser, browser, sign_in


async def correct(admin: Browser, trace: str, **fields: str) -> str:
    said = {"question": "How long is parental leave?", "answer": "26 weeks since May.", "space": "here"} | fields
    page = await admin.opens(f"/admin/traces/{trace}")
    return (await admin.submits(page, f"/admin/traces/{trace}/correct", **said)).text


async def test_a_corrected_answer_is_a_document_of_the_place_with_its_author_and_in_the_log(
    admin: Browser, ask: Ask, desk: Desk
) -> None:
    trace = await ask()
    page = await correct(admin, trace)
    assert "Your answer is in the library" in page
    assert "26 weeks since May." in page  # the history of the trace
    (stored,) = await desk.experts.listed(team="T1")
    assert (stored.author, stored.run, stored.answer) == ("U7", trace, "26 weeks since May.")
    document = await desk.ingest.library.document(stored.document)
    assert document
    assert document.space == "workspace"  # the question was asked at no channel
    assert "corrected an answer" in (await admin.opens("/admin/audit")).text
    library = (await admin.opens("/admin/library?state=expert")).text
    assert "Answer by U7" in library
    assert "expert answer" in library


async def test_a_question_of_a_channel_is_answered_there_or_for_everybody(
    admin: Browser, ask: Ask, desk: Desk, engine: AsyncEngine
) -> None:
    trace = await ask()
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE runs SET channel = 'C1'"))
    for chosen, space in (("here", "T1:C1"), ("everybody", "workspace"), ("T2:C9", "T1:C1")):
        await correct(admin, trace, space=chosen)
        (stored,) = await desk.experts.listed(team="T1")
        document = await desk.ingest.library.document(stored.document)
        assert document
        assert document.space == space


async def test_an_answer_that_is_due_is_shown_and_confirmed_or_removed_with_one_click(
    admin: Browser, ask: Ask, desk: Desk, engine: AsyncEngine
) -> None:
    await correct(admin, await ask())
    assert "No document is like this" in (await admin.opens("/admin/library?state=due")).text
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE expert_answers SET review_at = now() - interval '1 day'"))
    (stored,) = await desk.experts.listed(team="T1")
    due = await admin.opens("/admin/library?state=due")
    assert "to be confirmed since" in due.text
    done = await admin.submits(due, f"/admin/library/{stored.document}/confirm")
    assert "another while" in done.text
    assert "No document is like this" in (await admin.opens("/admin/library?state=due")).text
    page = await admin.opens("/admin/library?state=expert")
    await admin.submits(page, f"/admin/library/{stored.document}/remove")
    assert await desk.experts.listed(team="T1") == ()


async def test_nothing_is_stored_of_an_empty_answer_or_by_another_team_or_without_the_form_of_a_session(
    admin: Browser, ask: Ask, desk: Desk
) -> None:
    trace = await ask()
    assert "Both are needed" in await correct(admin, trace, answer=" ")
    said = {"question": "q", "answer": "a"}
    assert (await admin.client.post(f"/admin/traces/{trace}/correct", data=said)).status_code == 403
    async with browser(desk) as other:
        await sign_in(other, desk, team="T2", person="U8")
        page = await other.opens("/admin/library")
        token = page.text.split('name="form_token" value="')[1].split('"')[0]
        answer = await other.client.post(f"/admin/traces/{trace}/correct", data=said | {"form_token": token})
        assert answer.status_code == 404
    assert await desk.experts.listed(team="T1") == ()
