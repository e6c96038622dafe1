import pytest
from playwright.async_api import Page, expect

from tests.browser.installation import Asked, Running

pytestmark = pytest.mark.browser

COFFEE = Asked(text="Who do I call when the coffee machine leaks?", channel="C2", asker="U3", days=60)


async def test_an_answer_that_was_missing_is_written_found_and_cited(signed_in: Page, installation: Running) -> None:
    page, trace = signed_in, await installation.ask(COFFEE)
    await page.goto(f"{installation.address}/admin/traces/{trace}")
    await page.get_by_text("Correct the answer", exact=True).click()
    await page.get_by_label("Its answer").fill("Call Dolores of facilities, extension 4711.")
    await page.get_by_label("Who may see it").select_option("here")
    await page.get_by_role("button", name="Add to the library").click()
    await expect(page.get_by_role("status")).to_contain_text("Your answer is in the library")
    await expect(page.locator(".history")).to_contain_text("extension 4711")

    await page.get_by_role("button", name="Run again now").click()
    now = page.get_by_role("region", name="Now")
    await expect(now).to_contain_text("The library answers it")
    await expect(now).to_contain_text("4711")
    (stored,) = await installation.product.experts.listed(team="T1")
    assert stored.author_name == "Ada"

    await page.goto(f"{installation.address}/admin/library?state=expert")
    await page.get_by_role("button", name="Remove: Answer by Ada").click()
    await expect(page.get_by_role("status")).to_contain_text("answers use it no more")
