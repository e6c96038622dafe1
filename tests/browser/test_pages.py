import re
import socket
from dataclasses import replace

import pytest
from playwright.async_api import Browser, Page, expect

from bot.admin.admins import Admins
from bot.admin.application import mount
from bot.admin.desk import Desk
from bot.admin.links import Links
from bot.admin.openid import OpenId
from bot.server import build
from tests.browser.chromium import serving
from tests.browser.installation import Running
from tests.slack_workspace import SlackWorkspace

pytestmark = pytest.mark.browser

PAGES = ("traces", "overview", "gaps", "library", "jobs", "audit")


async def test_a_link_signs_in_once_and_its_second_use_is_refused(
    page: Page, installation: Running, chromium: Browser
) -> None:
    link = await installation.link()
    await page.goto(link)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Traces")).to_be_visible()
    other = await chromium.new_context()
    window = await other.new_page()
    answer = await window.goto(link)
    assert answer
    assert answer.status == 403
    await expect(window.get_by_text("/crag-traces")).to_be_visible()
    await other.close()


async def test_an_admin_goes_to_slack_by_a_button_and_comes_back_signed_in(page: Page, installation: Running) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with SlackWorkspace() as slack:  # at 127.0.0.1, which is another site for a browser than localhost is
        ada = slack.user("Ada")
        slack.at_the_browser(ada)
        address = f"http://localhost:{port}"
        desk = with_slack(installation.desk, slack, admin=ada.id, address=address)
        async with serving(build(desk.engine, [mount(desk)]), port):
            await page.goto(f"{address}/admin/traces")
            await page.get_by_role("link", name="Sign in with Slack").click()
            await expect(page.get_by_role("heading", name="Traces")).to_be_visible()
            assert page.url == f"{address}/admin/traces"
            slack.at_the_browser(slack.user("Gil"))
            await page.goto(f"{address}/admin/login/slack")
            await expect(page.get_by_text("You are not an admin")).to_be_visible()


def with_slack(desk: Desk, slack: SlackWorkspace, *, admin: str, address: str) -> Desk:
    async def knows(team: str) -> bool:
        return team == slack.team.id

    async def vouches(_team: str, _person: str) -> bool:
        return False

    admins = Admins(named=frozenset({admin}))
    return replace(
        desk,
        admins=admins,
        links=Links(desk.engine, admins, address=address),
        openid=OpenId(
            client_id=slack.app.client_id,
            client_secret=slack.app.client_secret,
            api_url=slack.api_url,
            team=slack.team.id,
            knows=knows,
            vouches=vouches,
        ),
    )


async def test_a_bad_answer_is_found_judged_and_run_again_without_any_script(
    chromium: Browser, installation: Running
) -> None:
    context = await chromium.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(await installation.link())
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("link", name="Not helpful").click()
    await page.get_by_role("link", name="How many days of vacation").click()
    await expect(
        page.get_by_role("img", name="Path: contextualize, retrieve, evaluate, refine, generate")
    ).to_be_visible()
    await page.get_by_role("radio", name="wrong").check()
    await page.get_by_role("radio", name="should have been ambiguous").check()
    await page.get_by_label("For this question it is").first.select_option("not relevant")
    await page.get_by_label("Note").fill("Old rule <script>alert(1)</script>")
    await page.get_by_role("button", name="Store the review").click()
    await expect(page.get_by_role("status")).to_have_text("Your review is stored.")
    await expect(page.get_by_text("Old rule <script>alert(1)</script>")).to_be_visible()
    await page.get_by_role("button", name="Run again now").click()
    await expect(page.get_by_role("region", name="Then")).to_be_visible()
    await expect(page.get_by_role("region", name="Now")).to_be_visible()
    await context.close()


async def test_no_page_runs_what_people_wrote_or_asks_for_anything_elsewhere(
    signed_in: Page, installation: Running
) -> None:
    page, trouble = signed_in, []
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on(
        "request", lambda request: trouble.append(request.url) if _is_elsewhere(request.url, installation) else None
    )
    for name in PAGES:
        await page.goto(f"{installation.address}/admin/{name}", wait_until="networkidle")
    await page.goto(f"{installation.address}/admin/traces?q=flight")
    await page.get_by_role("link", name="alert('question')").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("<script>alert('question')</script>")
    await expect(page.get_by_role("link", name="Dolores <script>")).to_be_visible()
    assert trouble == []


async def test_on_a_phone_nothing_is_wider_than_the_screen(signed_in: Page, installation: Running) -> None:
    await signed_in.set_viewport_size({"width": 360, "height": 740})
    for name in (*PAGES, "library/1"):
        await signed_in.goto(f"{installation.address}/admin/{name}")
        assert await signed_in.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
    await signed_in.goto(f"{installation.address}/admin/traces")
    await signed_in.locator(".runs a").first.click()
    assert await signed_in.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


async def test_the_keyboard_reaches_everything_and_shows_where_it_is(signed_in: Page) -> None:
    await signed_in.keyboard.press("Tab")
    await expect(signed_in.get_by_role("link", name="Skip to the content")).to_be_focused()
    for _ in range(3):
        await signed_in.keyboard.press("Tab")
    focused = signed_in.locator(":focus")
    await expect(focused).to_have_css("outline-style", "solid")
    await signed_in.keyboard.press("Enter")
    await expect(signed_in.get_by_role("heading", name="Gaps", exact=True)).to_be_visible()


async def test_a_number_of_the_overview_leads_to_its_traces(signed_in: Page, installation: Running) -> None:
    await signed_in.goto(f"{installation.address}/admin/overview")
    number = signed_in.get_by_role("link", name="questions", exact=False).first
    told = re.search(r"\d+", await number.inner_text())
    assert told
    await number.click()
    await expect(signed_in.locator(".runs li")).to_have_count(int(told[0]))
    await signed_in.goto(f"{installation.address}/admin/overview")
    await signed_in.locator(".chart a").first.click()
    await expect(signed_in.locator(".runs li").first).to_be_visible()


def _is_elsewhere(url: str, installation: Running) -> bool:
    return not url.startswith(installation.address)
