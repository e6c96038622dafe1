import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.installation import Running

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
    await signed_in.get_by_role("link", name="questions", exact=False).first.click()
    await expect(signed_in.locator(".runs li")).to_have_count(3)
    await signed_in.goto(f"{installation.address}/admin/overview")
    await signed_in.locator(".chart a").first.click()
    await expect(signed_in.locator(".runs li").first).to_be_visible()


def _is_elsewhere(url: str, installation: Running) -> bool:
    return not url.startswith(installation.address)
