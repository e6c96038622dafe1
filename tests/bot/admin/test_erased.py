"""What the pages show of somebody who was erased: figures, and nobody."""

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.erasing.eraser import Eraser
from bot.memory import Memory
from bot.traces.feedback import give_feedback
from tests.bot.admin.conftest import Ask, Browser


async def nobodys(_person: str, *, team: str | None) -> int:
    """There are no experts."""
    return 0


@pytest.mark.parametrize("path", ["/admin/traces", "/admin/traces/{trace}", "/admin/gaps", "/admin/audit", "/admin"])
async def test_no_page_shows_whom_or_what_was_erased(
    admin: Browser, ask: Ask, engine: AsyncEngine, memory: Memory, path: str
) -> None:
    trace = await ask("How many weeks of zanzibarquest?")
    await give_feedback(engine, team="T1", trace=trace, person="U2", helpful=False, note="zanzibarquest")
    await Eraser(engine, [memory], disown=nobodys).erase_person("U1", team="T1")
    page = await admin.opens(path.format(trace=trace))
    assert page.status_code == 200
    for gone in ("zanzibarquest", ">U1<", "person=U1", "erased-"):
        assert gone not in page.text
    if "traces" in path:
        assert "erased" in page.text.lower()
