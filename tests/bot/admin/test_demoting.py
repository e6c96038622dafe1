import pytest

from bot.admin.desk import Desk
from crag_graph.knowledge.documents import NewDocument
from tests.bot.admin.conftest import Ask, Browser, browser, sign_in
from tests.bot.conftest import LEAVE
from tests.crag_graph.knowledge.making import a_document, some_passages


@pytest.fixture
async def document(desk: Desk) -> int:
    """The passage that every answer rests on, in the library."""
    (vector,) = await desk.embedder.embed([LEAVE.text])
    stored = await desk.ingest.library.replace(
        leave(), some_passages(LEAVE.text, embedding=vector), features_version="1"
    )
    return stored.id


def leave() -> NewDocument:
    return a_document(LEAVE.source, space="workspace")


async def judge(admin: Browser, trace: str, said: str) -> None:
    page = await admin.opens(f"/admin/traces/{trace}")
    await admin.submits(page, f"/admin/traces/{trace}/review", **{f"passage:{LEAVE.id}": said})


async def test_two_reviews_that_call_a_passage_not_relevant_put_it_behind_and_relevant_takes_ones_own_back(
    admin: Browser, ask: Ask, document: int
) -> None:
    first, second = await ask(), await ask()
    await judge(admin, first, "no")
    assert "Called not relevant once" in (await admin.opens(f"/admin/traces/{first}")).text
    await judge(admin, second, "no")
    shown = (await admin.opens(f"/admin/library/{document}")).text
    assert "Ranks lower for questions like these" in shown
    await judge(admin, second, "yes")
    assert "Called not relevant once" in (await admin.opens(f"/admin/library/{document}")).text


async def test_an_admin_puts_a_passage_behind_and_takes_it_back_and_both_are_in_the_log(
    admin: Browser, ask: Ask, document: int
) -> None:
    trace = await ask()
    page = await admin.opens(f"/admin/traces/{trace}")
    done = await admin.submits(page, f"/admin/traces/{trace}/demote", passage=LEAVE.id)
    assert "ranks lower for questions like this one" in done.text
    assert "put behind, U7" in done.text
    back = await admin.submits(done, "/admin/demotions/1/undo", **{"from": f"/admin/traces/{trace}"})
    assert "put behind" not in back.text
    assert str(back.url).endswith(f"/admin/traces/{trace}")
    log = (await admin.opens("/admin/audit")).text
    assert "put a passage behind" in log
    assert "took a word against a passage back" in log


async def test_what_the_library_does_not_hold_any_more_cannot_rank_lower(admin: Browser, ask: Ask) -> None:
    trace = await ask()
    page = await admin.opens(f"/admin/traces/{trace}")
    refused = await admin.submits(page, f"/admin/traces/{trace}/demote", passage=LEAVE.id)
    assert refused.status_code == 409
    assert "does not hold this passage" in refused.text
    unknown = await admin.submits(page, f"/admin/traces/{trace}/demote", passage="nothing")
    assert unknown.status_code == 404


async def test_another_team_takes_nothing_back_and_a_form_leads_to_pages_of_ours_alone(
    admin: Browser, desk: Desk, ask: Ask, document: int
) -> None:
    trace = await ask()
    page = await admin.opens(f"/admin/traces/{trace}")
    await admin.submits(page, f"/admin/traces/{trace}/demote", passage=LEAVE.id)
    page = await admin.opens(f"/admin/traces/{trace}")
    done = await admin.submits(page, "/admin/demotions/1/undo", **{"from": "https://evil.example/admin/traces/"})
    assert str(done.url).endswith("/admin/library")
    async with browser(desk) as other:
        await sign_in(other, desk, team="T2", person="U7")
        assert (await other.opens(f"/admin/traces/{trace}")).status_code == 404
