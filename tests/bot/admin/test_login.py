import asyncio
from dataclasses import replace

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.admins import Admins
from bot.admin.desk import Desk
from bot.admin.links import Links
from bot.admin.sessions import COOKIE
from tests.bot.admin.conftest import ADDRESS, Ask, Browser, browser, sign_in

PAGES = (
    "/admin/traces",
    "/admin/overview",
    "/admin/gaps",
    "/admin/gaps.csv",
    "/admin/library",
    "/admin/jobs",
    "/admin/audit",
)


def is_refused(answer: httpx.Response) -> bool:
    """A page that says how to get in, and nothing else."""
    return answer.status_code == 403 and "/crag-traces" in answer.text and "parental" not in answer.text


async def post(browser: Browser, link: str, **headers: str) -> httpx.Response:
    return await browser.client.post(link, headers=headers or {"origin": ADDRESS})


async def test_a_link_signs_an_admin_in_and_every_page_opens(admin: Browser, ask: Ask) -> None:
    trace = await ask()
    for page in (*PAGES, f"/admin/traces/{trace}"):
        assert (await admin.opens(page)).status_code == 200, page


async def test_nobody_else_gets_a_link(desk: Desk) -> None:
    assert await desk.links.make_for("T1", "U99") is None


async def test_an_admin_of_the_workspace_gets_one_where_that_is_set(desk: Desk) -> None:
    assert await desk.links.make_for("T1", "U99", vouched=True) is None
    admins = Admins(workspace=True)
    by_setting = replace(desk, admins=admins, links=Links(desk.engine, admins, address=ADDRESS))
    assert await by_setting.links.make_for("T1", "U99", vouched=False) is None
    link = await by_setting.links.make_for("T1", "U99", vouched=True)
    assert link
    async with browser(by_setting) as opened:
        assert (await post(opened, link)).url.path == "/admin/traces"


@pytest.mark.parametrize("page", PAGES)
async def test_without_a_session_a_page_is_refused(stranger: Browser, ask: Ask, page: str) -> None:
    await ask()
    assert is_refused(await stranger.opens(page))


async def test_looking_at_a_link_does_not_use_it_up(desk: Desk, stranger: Browser) -> None:
    """As previews and mail scanners do."""
    link = await desk.links.make_for("T1", "U7")
    assert link
    for _ in range(3):
        assert (await stranger.opens(link)).status_code == 200
    assert (await post(stranger, link)).url.path == "/admin/traces"


async def test_a_link_signs_in_once_even_if_two_press_at_the_same_moment(desk: Desk) -> None:
    link = await desk.links.make_for("T1", "U7")
    assert link
    async with browser(desk) as one, browser(desk) as other:
        answers = await asyncio.gather(post(one, link), post(other, link))
        assert sorted(answer.status_code for answer in answers) == [200, 403]
        assert is_refused(await post(one, link))
        assert is_refused(await one.client.get(link))


async def test_a_link_is_good_for_ten_minutes(desk: Desk, stranger: Browser, engine: AsyncEngine) -> None:
    link = await desk.links.make_for("T1", "U7")
    assert link
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE admin_links SET expires_at = expires_at - interval '10 minutes'"))
    assert is_refused(await post(stranger, link))


@pytest.mark.parametrize(
    "forged",
    [
        lambda link: link[:-1] + ("0" if link[-1] != "0" else "1"),
        lambda link: link.replace("/sign-in/", "/sign-in/x"),
        lambda link: link[::-1].replace(".", "9.", 2)[::-1],
        lambda link: link.rsplit("/", 1)[0] + "/nothing",
        lambda link: link.rsplit("/", 1)[0] + "/a.99999999999999999999999999.b",
        lambda link: link.rsplit("/", 1)[0] + "/%00.1.%F0%9F",
        lambda link: link.rsplit("/", 1)[0] + "/..",
    ],
)
async def test_a_forged_link_is_refused(desk: Desk, stranger: Browser, forged: object) -> None:
    link = await desk.links.make_for("T1", "U7")
    assert link
    assert callable(forged)
    address = forged(link)
    assert (await stranger.opens(address)).status_code in {403, 404}
    assert (await post(stranger, address)).status_code in {403, 404, 405}


async def test_an_admin_of_one_team_sees_that_team_only(desk: Desk, admin: Browser, ask: Ask) -> None:
    trace = await ask("Is my burn-out covered?")
    assert "burn-out" in (await admin.opens("/admin/traces")).text
    async with browser(desk) as elsewhere:
        await sign_in(elsewhere, desk, team="T2")
        for page in PAGES:
            assert "burn-out" not in (await elsewhere.opens(page)).text
        assert (await elsewhere.opens(f"/admin/traces/{trace}")).status_code == 404
        assert (await elsewhere.opens(f"/admin/traces/{trace}/text/answer")).status_code == 404
        assert (await elsewhere.opens(f"/admin/traces/{trace}/beside/{trace}")).status_code == 404
        own = await elsewhere.opens("/admin/traces")
        for action in ("review", "again"):
            token = own.text.split('name="form_token" value="')[1].split('"')[0]
            answer = await elsewhere.client.post(
                f"/admin/traces/{trace}/{action}", data={"form_token": token, "rating": "wrong"}
            )
            assert answer.status_code == 404
    assert "reviewed: wrong" not in (await admin.opens(f"/admin/traces/{trace}")).text


async def test_the_cookie_is_for_this_site_and_no_script(desk: Desk, stranger: Browser) -> None:
    link = await desk.links.make_for("T1", "U7")
    assert link
    answer = await stranger.client.post(link, headers={"origin": ADDRESS}, follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=lax", "max-age=43200", "path=/admin"))
    assert "secure" not in cookie  # plain http, on this machine
    behind_tls = replace(desk, links=Links(desk.engine, desk.admins, address="https://bot.test/"))
    link = await behind_tls.links.make_for("T1", "U7")
    assert link
    async with browser(behind_tls) as other:
        answer = await other.client.post(link, headers={"origin": "https://bot.test"}, follow_redirects=False)
        assert "secure" in answer.headers["set-cookie"].lower()


async def test_a_session_ends_after_twelve_hours(admin: Browser, engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE admin_sessions SET expires_at = expires_at - interval '12 hours'"))
    assert is_refused(await admin.opens("/admin/traces"))


async def test_who_is_no_admin_any_more_is_out_at_once(desk: Desk, admin: Browser) -> None:
    async with browser(replace(desk, admins=Admins())) as later:
        later.client.cookies = admin.client.cookies
        assert is_refused(await later.opens("/admin/traces"))


async def test_signing_out_ends_the_session_also_for_who_kept_the_cookie(admin: Browser) -> None:
    kept = admin.client.cookies[COOKIE]
    await admin.submits(await admin.opens("/admin/traces"), "/admin/sign-out")
    admin.client.cookies.set(COOKIE, kept, domain="bot.test", path="/admin")
    assert is_refused(await admin.opens("/admin/traces"))


@pytest.mark.parametrize("token", [None, "", "guessed", "\x00", "ü"])
async def test_what_writes_needs_a_form_of_this_session(admin: Browser, ask: Ask, token: str | None) -> None:
    trace = await ask()
    data = {"rating": "wrong"} | ({} if token is None else {"form_token": token})
    answer = await admin.client.post(f"/admin/traces/{trace}/review", data=data)
    assert answer.status_code == 403
    assert "reviewed: wrong" not in (await admin.opens(f"/admin/traces/{trace}")).text


async def test_a_form_on_another_site_is_refused_though_it_knew_the_token(admin: Browser, ask: Ask) -> None:
    trace = await ask()
    page = await admin.opens(f"/admin/traces/{trace}")
    token = page.text.split('name="form_token" value="')[1].split('"')[0]
    for origin in ("https://evil.example", "null", "http://bot.test.evil.example"):
        answer = await admin.client.post(
            f"/admin/traces/{trace}/review", data={"form_token": token, "rating": "wrong"}, headers={"origin": origin}
        )
        assert answer.status_code == 403


async def test_browsers_are_told_to_run_nothing_load_nothing_from_elsewhere_and_keep_nothing(admin: Browser) -> None:
    for page in ("/admin/traces", "/admin/nowhere", "/admin/sign-in/x"):
        headers = (await admin.opens(page)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"


async def test_what_admins_do_stands_in_the_audit_log(admin: Browser, ask: Ask) -> None:
    trace = await ask()
    page = await admin.opens(f"/admin/traces/{trace}")
    await admin.submits(page, f"/admin/traces/{trace}/review", rating="wrong", note="<b>old</b>")
    log = (await admin.opens("/admin/audit")).text
    for deed in ("asked for a link", "signed in", "reviewed", trace, "wrong"):
        assert deed in log
