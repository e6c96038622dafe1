"""From data to pages: the templates, and how numbers and times look in them."""

from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from bot.admin.filters import link

SECOND = 1000
LONGEST_SHOWN = 20_000
"""Characters of one text on a page."""


def moment(value: datetime | None) -> str:
    return value.astimezone(UTC).strftime("%d %b %Y, %H:%M") if value else "–"


def duration(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "–"
    return f"{milliseconds:.0f} ms" if milliseconds < SECOND else f"{milliseconds / SECOND:.1f} s"


def money(dollars: float | None) -> str:
    if dollars is None:
        return "no price"
    return "$0" if not dollars else f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"


def share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def shorten(text: str, longest: int) -> str:
    """One line."""
    flat = " ".join(text[: longest * 4].split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bot.admin"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "moment": moment,
        "duration": duration,
        "money": money,
        "share": share,
        "shorten": shorten,
    }
    environment.globals |= {"traces": link, "longest_shown": LONGEST_SHOWN}
    return environment


TEMPLATES = _environment()


def page(request: Request, template: str, *, status: int = 200, session: Any = None, **context: Any) -> HTMLResponse:
    html = TEMPLATES.get_template(template).render(session=session, path=request.url.path, **context)
    return HTMLResponse(html, status_code=status)
