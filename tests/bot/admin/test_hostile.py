"""Whatever people, documents, pages and models write is shown as text; whatever fails is told plainly."""

from dataclasses import replace
from html import escape

import httpx
import pytest
from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.application import mount
from bot.admin.desk import Desk
from bot.admin.links import Links
from bot.admin.sessions import COOKIE
from bot.admin.shelf import is_readable
from bot.answering import Answering
from bot.database.engine import open_engine
from bot.server import build
from bot.traces.feedback import give_feedback
from bot.traces.tables import runs, steps
from tests.bot.admin.conftest import ADDRESS, Ask, Browser, browser, sign_in
from tests.fakes.services import ScriptedWriter

ATTACK = "<img src=x onerror=alert(1)>\"'{{7*7}}</textarea><script>alert(2)</script>"


async def test_an_attack_is_text_wherever_it_stands(desk: Desk, ask: Ask, engine: AsyncEngine) -> None:
    trace = await ask(f"{ATTACK} how long is leave?")
    await _poison(engine, trace)

    async def names(team: object, people: object, channels: object) -> dict[str, str]:
        return dict.fromkeys(("U1", "U7", "C1"), ATTACK)

    async with browser(replace(desk, names=names)) as admin:
        await sign_in(admin, desk)
        page = await admin.opens(f"/admin/traces/{trace}")
        await admin.submits(page, f"/admin/traces/{trace}/review", rating="wrong", note=ATTACK, answer=ATTACK)
        await admin.submits(page, f"/admin/traces/{trace}/again")
        paths = ("traces", f"traces/{trace}", f"traces/{trace}/beside/{trace}", "library", "overview", "gaps", "audit")
        for path in (*paths, f"traces?q={ATTACK}", "library/1", "jobs", "gaps/1"):
            page = await admin.opens(f"/admin/{path}")
            assert page.status_code == 200, path
            assert "<img" not in page.text, path
            assert "<script" not in page.text, path
            assert "</textarea><" not in page.text.replace("</textarea></label>", ""), path
            assert "49" not in page.text or "{{7*7}}" in page.text, path
        assert escape(ATTACK[:28]) in (await admin.opens("/admin/traces")).text


async def _poison(engine: AsyncEngine, trace: str) -> None:
    """What the database could hold at worst."""
    citation = {"mark": 1, "kind": "web", "title": ATTACK, "source": ATTACK, "location": ATTACK, "quote": ATTACK}
    passage = {"id": ATTACK, "title": ATTACK, "text": ATTACK, "location": ATTACK, "source": ATTACK, "superseded": True}
    poison = dict.fromkeys(
        ("reason", "answer", "notice", "web_query", "error", "standalone", "settings", "version", "model"), ATTACK
    )
    call = {"role": ATTACK, "model": ATTACK, "prompt_tokens": 1, "completion_tokens": 1, "milliseconds": 1.0}
    async with engine.begin() as connection:
        await connection.execute(
            update(runs)
            .where(runs.c.id == trace)
            .values(
                **poison,
                citations=[citation, citation | {"superseded": True, "newer": ATTACK}],
                permalink="javascript:alert(1)",
                abstention="too_weak",
            )
        )
        await connection.execute(
            update(steps)
            .where(steps.c.run == trace, steps.c.node == "retrieve")
            .values(
                detail={"passages": [passage], "pages": [passage], "scores": [{"value": 0.5, "reason": ATTACK}]},
                calls=[call | {"prompt": ATTACK, "reply": ATTACK}],
                faults=[{"where": ATTACK, "kind": ATTACK, "message": ATTACK}],
            )
        )
        await connection.execute(
            text(
                "INSERT INTO documents (space, source, title, loader, digest, size, added_by, state, problem)"
                " VALUES ('workspace', :attack, :attack, '', '', 1, :attack, 'failed', :attack)"
            ),
            {"attack": ATTACK},
        )
    await give_feedback(engine, team="T1", trace=trace, person="U1", helpful=False, note=ATTACK)


async def test_an_address_that_is_no_web_address_is_no_link(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    trace = await ask()
    async with engine.begin() as connection:
        await connection.execute(update(runs).where(runs.c.id == trace).values(permalink="javascript:alert(1)"))
    assert "javascript:" not in (await admin.opens(f"/admin/traces/{trace}")).text


async def test_without_its_database_a_page_says_so_plainly(desk: Desk, answering: Answering) -> None:
    away = open_engine("postgresql://nobody:hunter2@127.0.0.1:1/nothing")
    without = replace(desk, engine=away, links=Links(away, desk.admins, address=ADDRESS))
    transport = httpx.ASGITransport(app=build(away, [mount(without)]), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS, cookies={COOKIE: "x"}) as client:
        for answer in (
            await client.get("/admin/traces"),
            await client.get("/admin/sign-in/a.9999999999.c"),
            await client.post("/admin/traces/x/review", data={"rating": "good"}),
        ):
            assert answer.status_code == 503
            assert "The database does not answer" in answer.text
            assert "hunter2" not in answer.text
            assert answer.headers["content-security-policy"]
        assert (await client.get("/admin/static/admin.css")).status_code == 200
    await away.dispose()


async def test_what_breaks_tells_nothing_about_itself(desk: Desk, ask: Ask) -> None:
    async def names(team: object, people: object, channels: object) -> dict[str, str]:
        raise RuntimeError("hunter2")

    async with browser(replace(desk, names=names)) as admin:
        await sign_in(admin, desk)
        answer = await admin.opens("/admin/traces")
    assert answer.status_code == 500
    assert "hunter2" not in answer.text
    assert "Traceback" not in answer.text


async def test_a_form_that_is_too_large_is_not_read(admin: Browser, ask: Ask) -> None:
    trace = await ask()
    answer = await admin.client.post(f"/admin/traces/{trace}/review", data={"note": "x" * 2_000_000})
    assert answer.status_code == 413


async def test_a_run_that_fails_again_is_shown_as_it_failed(
    desk: Desk, admin: Browser, ask: Ask, writer: ScriptedWriter
) -> None:
    trace = await ask()
    writer.trouble.ahead["generate"] = [RuntimeError("hunter2")]
    beside = await admin.submits(await admin.opens(f"/admin/traces/{trace}"), f"/admin/traces/{trace}/again")
    assert "Now" in beside.text
    assert "failed" in beside.text


@pytest.mark.parametrize("path", ["/admin", "/admin/"])
async def test_the_door_leads_to_the_traces(admin: Browser, path: str) -> None:
    assert (await admin.opens(path)).url.path == "/admin/traces"


async def test_what_does_not_exist_is_not_found(admin: Browser) -> None:
    for path in ("nowhere", "gaps/1", "gaps/99999999999999999999999", "library/7", "jobs/1/retry", "static/../app.py"):
        assert (await admin.opens(f"/admin/{path}")).status_code in {404, 405}, path


@pytest.mark.parametrize(
    ("source", "readable"),
    [
        ("https://example.com/a", True),
        ("https://files.slack.com/files-pri/x", False),
        ("https://acme.slack.com/archives/C1", False),
        ("/srv/handbook/leave.md", True),
        ("leave.md", False),
        ("", False),
    ],
)
def test_only_what_has_a_place_can_be_read_again(source: str, readable: bool) -> None:
    assert is_readable(source) is readable
