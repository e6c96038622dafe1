"""Makes a picture of every page, light, dark and as on a phone: `python -m tests.browser.screenshots FOLDER`."""

import argparse
import asyncio
import socket
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page

from bot import logs
from tests.browser.chromium import open_chromium
from tests.browser.installation import Running, fill, running

LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1200, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1200, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}, "device_scale_factor": 2},
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


async def make(folder: Path) -> list[Path]:
    """Data by real runs in an embedded database that is thrown away."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as data:
        async with running(Path(data), None, port=free_port()) as installation, open_chromium() as browser:
            traces = await fill(installation)
            await _judge(browser, installation, traces)
            return [path for name in LOOKS for path in await _shoot(browser, installation, traces, folder, name)]


async def _judge(browser: Browser, installation: Running, traces: list[str]) -> None:
    """Somebody has been here before."""
    page = await browser.new_page()
    await _sign_in(page, installation)
    await page.goto(f"{installation.address}/admin/traces/{traces[8]}")
    await page.get_by_role("radio", name="wrong").check()
    await page.get_by_label("Note").fill("It answers for parental leave.")
    await page.get_by_role("button", name="Store the review").click()
    await page.get_by_role("button", name="Run again now").click()
    await page.goto(f"{installation.address}/admin/gaps")
    await page.close()


async def _shoot(browser: Browser, installation: Running, traces: list[str], folder: Path, look: str) -> list[Path]:
    context = await browser.new_context(**LOOKS[look])  # type: ignore[arg-type]  # the options are of several types
    page = await context.new_page()
    made = []

    async def shoot(name: str) -> None:
        made.append(folder / f"{name}-{look}.png")
        await page.screenshot(path=made[-1], full_page=True)

    await page.goto(await installation.link())
    await shoot("sign-in")
    await page.get_by_role("button", name="Sign in").click()
    for name, path in _pages(traces).items():
        await page.goto(f"{installation.address}{path}")
        await shoot(name)
    await page.goto(f"{installation.address}/admin/traces/{traces[8]}")
    await page.locator(".review ul.plain a").first.click()
    await shoot("beside")
    await page.goto(f"{installation.address}/admin/gaps")
    await page.locator(".gap a").first.click()
    await shoot("gap")
    await context.clear_cookies()
    await page.goto(f"{installation.address}/admin/traces")
    await shoot("refused")
    await context.close()
    return made


def _pages(traces: list[str]) -> dict[str, str]:
    return {
        "traces": "/admin/traces",
        "traces-filtered": "/admin/traces?feedback=unhelpful&q=days",
        "trace-correct": f"/admin/traces/{traces[1]}",
        "trace-web": f"/admin/traces/{traces[3]}",
        "trace-reviewed": f"/admin/traces/{traces[8]}",
        "trace-incorrect": f"/admin/traces/{traces[9]}",
        "overview": "/admin/overview",
        "gaps": "/admin/gaps",
        "library": "/admin/library",
        "document": "/admin/library/1",
        "jobs": "/admin/jobs",
        "audit": "/admin/audit",
        "not-found": "/admin/traces/nothing",
    }


async def _sign_in(page: Page, installation: Running) -> None:
    await page.goto(await installation.link())
    await page.get_by_role("button", name="Sign in").click()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    logs.configure("error")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for path in asyncio.run(make(folder)):
        print(path)  # noqa: T201 - a command
