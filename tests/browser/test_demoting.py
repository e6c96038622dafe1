import pytest
from playwright.async_api import Page, expect

from tests.browser.installation import Asked, Running

pytestmark = pytest.mark.browser

LEAVE = Asked(text="How many days of parental leave does every parent get?", channel="C2", asker="U3")


async def test_a_passage_that_did_not_help_is_put_behind_and_taken_back_with_one_click_each(
    signed_in: Page, installation: Running
) -> None:
    page, trace = signed_in, await installation.ask(LEAVE)
    await page.goto(f"{installation.address}/admin/traces/{trace}")
    first = page.locator("#passages details").first
    await first.get_by_role("button", name="Rank lower for questions like this").click()
    await expect(page.get_by_role("status")).to_contain_text("ranks lower for questions like this one")
    await (
        page.locator("#passages details").filter(has_text="put behind").get_by_role("button", name="Take back").click()
    )
    await expect(page.locator(".demoted")).to_have_count(0)
