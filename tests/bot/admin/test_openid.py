"""Signing in with Slack: our pages, a browser that goes to and fro, and a Slack that knows who sits at it."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.admins import Admins
from bot.admin.audit import read
from bot.admin.desk import Desk
from bot.admin.links import Links
from bot.admin.openid import OpenId, SignInError, check_claims, read_claims
from tests.bot.admin.conftest import ADDRESS, Browser, browser
from tests.slack_workspace import SlackWorkspace
from tests.slack_workspace.person import Person

START = "/admin/login/slack"
BUTTON = f'href="{START}">Sign in with Slack'
AWAY = "Slack does not answer"


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace() as opened:
        yield opened


@pytest.fixture
def ada(slack: SlackWorkspace) -> Person:
    """Named as an admin, and at the browser."""
    ada = slack.user("Ada")
    slack.at_the_browser(ada)
    return ada


@pytest.fixture
def desk(desk: Desk, slack: SlackWorkspace, ada: Person) -> Desk:
    async def knows(team: str) -> bool:
        return team == slack.team.id

    async def vouches(_team: str, person: str) -> bool:
        return slack.platform.world.accounts[person].is_admin

    openid = OpenId(
        client_id=slack.app.client_id,
        client_secret=slack.app.client_secret,
        api_url=slack.api_url,
        team=slack.team.id,
        knows=knows,
        vouches=vouches,
    )
    return allowing(replace(desk, openid=openid), Admins(named=frozenset({ada.id})))


def allowing(desk: Desk, admins: Admins) -> Desk:
    return replace(desk, admins=admins, links=Links(desk.engine, admins, address=ADDRESS))


@dataclass(frozen=True, kw_only=True)
class Audit:
    engine: AsyncEngine
    team: str

    async def last(self) -> tuple[str, str, str]:
        """Who, did what, and why it was refused."""
        deed = (await read(self.engine, team=self.team))[0]
        return deed["person"], deed["action"], deed["detail"].get("why", "")


@pytest.fixture
def audit(desk: Desk, slack: SlackWorkspace) -> Audit:
    return Audit(engine=desk.engine, team=slack.team.id)


async def to_slack(browser: Browser) -> httpx.URL:
    answer = await browser.client.get(START, follow_redirects=False)
    assert answer.status_code == 303
    return httpx.URL(answer.headers["location"])


async def at_slack(page: httpx.URL) -> str:
    """Where Slack sends the browser back to."""
    async with httpx.AsyncClient() as client:
        answer = await client.get(page)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


async def signs_in(browser: Browser) -> httpx.Response:
    return await browser.opens(await at_slack(await to_slack(browser)))


def is_refused(answer: httpx.Response) -> bool:
    return answer.status_code == 403 and BUTTON in answer.text


async def test_an_admin_signs_in_with_slack_and_stays(stranger: Browser, ada: Person, audit: Audit) -> None:
    assert BUTTON in (await stranger.opens("/admin/traces")).text
    assert (await signs_in(stranger)).url.path == "/admin/traces"
    assert (await stranger.opens("/admin/overview")).status_code == 200
    assert await audit.last() == (ada.id, "signed in", "")
    assert "with: Slack" in (await stranger.opens("/admin/audit")).text


async def test_slack_is_asked_for_no_more_than_who_it_is(stranger: Browser, slack: SlackWorkspace) -> None:
    page = await to_slack(stranger)
    assert str(page).startswith(f"{slack.platform.host}openid/connect/authorize?")
    assert page.params["scope"] == "openid profile"
    assert page.params["redirect_uri"] == f"{ADDRESS}/admin/login/slack/done"
    assert page.params["state"] != page.params["nonce"]


@pytest.mark.parametrize("api_url", ["https://slack.com/api/", "https://slack.com/api"])
async def test_the_page_at_slack_stands_beside_its_web_api(desk: Desk, api_url: str) -> None:
    assert desk.openid
    page = replace(desk.openid, api_url=api_url).page("secret", callback=ADDRESS)
    assert page.startswith("https://slack.com/openid/connect/authorize?response_type=code&")


async def test_the_cookie_of_the_way_is_short_and_for_no_script(stranger: Browser) -> None:
    answer = await stranger.client.get(START, follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=lax", "max-age=600", f"path={START};"))


async def test_who_is_no_admin_is_refused(stranger: Browser, slack: SlackWorkspace, audit: Audit) -> None:
    gil = slack.user("Gil", admin=True)
    slack.at_the_browser(gil)
    assert is_refused(await signs_in(stranger))
    assert is_refused(await stranger.opens("/admin/traces"))
    assert await audit.last() == (gil.id, "was refused", "no admin")


async def test_an_admin_of_the_workspace_may_come_in_where_that_is_set(desk: Desk, slack: SlackWorkspace) -> None:
    async with browser(allowing(desk, Admins(workspace=True))) as opened:
        assert is_refused(await signs_in(opened))
        slack.at_the_browser(slack.user("Gil", admin=True))
        assert (await signs_in(opened)).url.path == "/admin/traces"


async def test_people_of_another_team_are_refused_whatever_their_id(
    desk: Desk, slack: SlackWorkspace, audit: Audit
) -> None:
    gil = slack.user("Gil", admin=True, team=slack.other_team("Globex").team)
    slack.at_the_browser(gil)
    async with browser(allowing(desk, Admins(named=frozenset({gil.id}), workspace=True))) as opened:
        assert is_refused(await signs_in(opened))
    assert "another team" in (await audit.last())[2]


async def test_who_says_no_at_slack_is_refused(stranger: Browser, slack: SlackWorkspace, audit: Audit) -> None:
    slack.at_the_browser(None)
    assert is_refused(await signs_in(stranger))
    assert await audit.last() == ("", "was refused", "Slack sent no code")


@pytest.mark.parametrize("state", [None, "", "guessed", "\x00", "ü"])
async def test_a_wrong_or_missing_state_is_refused_before_slack_is_asked(
    stranger: Browser, slack: SlackWorkspace, audit: Audit, state: str | None
) -> None:
    back = httpx.URL(await at_slack(await to_slack(stranger)))
    params = back.params.remove("state") if state is None else back.params.set("state", state)
    assert is_refused(await stranger.opens(str(back.copy_with(params=params))))
    assert not slack.calls("openid.connect.token")
    assert "not begun" in (await audit.last())[2]


async def test_a_way_back_works_once_and_in_the_browser_that_went(desk: Desk, stranger: Browser) -> None:
    back = await at_slack(await to_slack(stranger))
    cookie = stranger.client.cookies["crag_sign_in"]
    async with browser(desk) as other:
        assert is_refused(await other.opens(back))
    assert (await stranger.opens(back)).url.path == "/admin/traces"
    assert is_refused(await stranger.opens(back))
    stranger.client.cookies.set("crag_sign_in", cookie, domain="bot.test", path=START)
    assert is_refused(await stranger.opens(back))


async def test_a_way_back_is_good_for_ten_minutes(stranger: Browser, engine: AsyncEngine) -> None:
    back = await at_slack(await to_slack(stranger))
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE admin_sign_ins SET expires_at = expires_at - interval '10 minutes'"))
    assert is_refused(await stranger.opens(back))


async def test_a_token_of_another_sign_in_is_refused(stranger: Browser, audit: Audit) -> None:
    page = await to_slack(stranger)
    back = await at_slack(page.copy_set_param("nonce", "another"))
    assert is_refused(await stranger.opens(back))
    assert await audit.last() == ("", "was refused", "the ID token is of another sign-in")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"code": "guessed"}, "invalid_code"),
        ({"client_secret": "wrong"}, "bad_client_secret"),
        ({"address": "http://elsewhere.test"}, "bad_redirect_uri"),
    ],
)
async def test_what_slack_refuses_is_refused(desk: Desk, audit: Audit, changed: dict[str, str], why: str) -> None:
    assert desk.openid
    secret = changed.get("client_secret", desk.openid.client_secret)
    wrong = replace(desk, openid=replace(desk.openid, client_secret=secret))
    async with browser(wrong) as opened:
        page = await to_slack(opened)
        if "address" in changed:
            page = page.copy_set_param("redirect_uri", changed["address"])
        back = httpx.URL(await at_slack(page))
        params = back.params.set("code", changed.get("code", back.params["code"]))
        answer = await opened.client.get(f"{START}/done", params=params)
    assert is_refused(answer)
    assert why not in answer.text
    assert await audit.last() == ("", "was refused", f"Slack refused: {why}")


@pytest.mark.parametrize("method", ["openid.connect.token", "openid.connect.userInfo"])
@pytest.mark.parametrize(("fault", "why"), [({"status": 503}, "Slack refused: no reason"), ({"drop": True}, AWAY)])
async def test_an_answer_of_slack_that_is_none_lets_nobody_in(
    desk: Desk, slack: SlackWorkspace, method: str, fault: dict[str, Any], why: str
) -> None:
    slack.faults.next(method, **fault)
    async with browser(desk) as opened:
        assert is_refused(await signs_in(opened))
    assert (await Audit(engine=desk.engine, team=slack.team.id).last())[2] == why


async def test_without_slack_nobody_comes_in_this_way(desk: Desk, audit: Audit) -> None:
    assert desk.openid
    away = replace(desk, openid=replace(desk.openid, api_url="http://127.0.0.1:9/api/"))
    async with browser(away) as opened:
        state = (await to_slack(opened)).params["state"]
        assert is_refused(await opened.client.get(f"{START}/done", params={"state": state, "code": "x"}))
    assert await audit.last() == ("", "was refused", AWAY)


async def test_where_it_is_not_set_there_is_no_button_and_no_page(desk: Desk) -> None:
    async with browser(replace(desk, openid=None)) as opened:
        assert "Sign in with Slack" not in (await opened.opens("/admin/traces")).text
        assert (await opened.opens(START)).status_code == 404
        assert (await opened.opens(f"{START}/done")).status_code == 404


GOOD: dict[str, Any] = {"iss": "https://slack.com", "aud": "1.2", "nonce": "n", "exp": time.time() + 300}


@pytest.mark.parametrize("claims", [GOOD, GOOD | {"aud": ["1.2"]}])
def test_a_token_for_us_is_taken(claims: dict[str, Any]) -> None:
    check_claims(claims, issuer="https://slack.com", client="1.2", nonce="n")


@pytest.mark.parametrize(
    "wrong",
    [
        {"iss": "https://evil.example"},
        {"aud": "1.3"},
        {"aud": ["1.2", "1.3"]},
        {"aud": None},
        {"nonce": ""},
        {"nonce": "\ud800"},
        {"exp": 0},
        {"exp": "never"},
        {"exp": None},
    ],
)
def test_a_token_that_is_not_for_us_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SignInError):
        check_claims(GOOD | wrong, issuer="https://slack.com", client="1.2", nonce="n")


@pytest.mark.parametrize("token", ["", "None", "a.b", "a.!.c", "a.W10.c", "a.____.c", "a.ü.c", "a.b.c.d"])
def test_a_token_that_is_none_is_refused(token: str) -> None:
    with pytest.raises(SignInError):
        read_claims(token)
