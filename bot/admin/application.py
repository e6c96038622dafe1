"""The review pages as one door of the web application: routes, what browsers are told, and what errors look like."""

from pathlib import Path

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, ExceptionHandler, Message, Receive, Scope, Send

from bot.admin import demoting, experts, jobs, log, login, overview, shelf, traces
from bot.admin import gaps as gap_pages
from bot.admin.desk import Desk
from bot.admin.filters import TRACES, FilterError
from bot.admin.rendering import page
from bot.admin.visit import signed_in
from bot.experts.answers import CorrectionError
from bot.traces import TraceError
from bot.traces.gaps import GapStateError
from bot.traces.reading import CursorError
from bot.traces.reviews import ReviewError
from crag_graph.services import LibraryError

HERE = Path(__file__).parent
POST = ["POST"]
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex",
}
FORBIDDEN = "You are not signed in, or your session is over."
TITLES = {400: "That does not work", 403: "No entry", 404: "Not found", 405: "Not possible", 413: "Too large"}

structured = structlog.get_logger()


def mount(desk: Desk) -> Mount:
    """Everything under /admin."""
    application = Starlette(routes=_routes(), exception_handlers=_handlers())
    application.state.desk = desk
    return Mount("/admin", app=Guarded(application))


def _routes() -> list[Route | Mount]:
    return [
        Route("/", _home),
        Route("/sign-in/{token}", login.ask_to_sign_in),
        Route("/sign-in/{token}", login.sign_in, methods=POST),
        Route("/login/slack", login.ask_slack),
        Route("/login/slack/done", login.back_from_slack),
        Route("/sign-out", signed_in(login.sign_out), methods=POST),
        Route("/bye", login.bye),
        Route("/traces", signed_in(traces.show_list)),
        Route("/traces/{trace}", signed_in(traces.show_one)),
        Route("/traces/{trace}/text/{name}", signed_in(traces.show_text)),
        Route("/traces/{trace}/review", signed_in(traces.review), methods=POST),
        Route("/traces/{trace}/correct", signed_in(experts.correct), methods=POST),
        Route("/traces/{trace}/demote", signed_in(demoting.demote), methods=POST),
        Route("/demotions/{demotion:int}/undo", signed_in(demoting.undo), methods=POST),
        Route("/traces/{trace}/again", signed_in(traces.run_again), methods=POST),
        Route("/traces/{trace}/beside/{other}", signed_in(traces.show_beside)),
        Route("/overview", signed_in(overview.show)),
        Route("/gaps", signed_in(gap_pages.show_list)),
        Route("/gaps.csv", signed_in(gap_pages.download)),
        Route("/gaps/group", signed_in(gap_pages.group), methods=POST),
        Route("/gaps/{gap:int}", signed_in(gap_pages.show_one)),
        Route("/gaps/{gap:int}/state", signed_in(gap_pages.settle), methods=POST),
        Route("/gaps/{gap:int}/again", signed_in(gap_pages.run_again), methods=POST),
        Route("/library", signed_in(shelf.show_list)),
        Route("/library/{document:int}", signed_in(shelf.show_one)),
        Route("/library/{document:int}/ingest", signed_in(shelf.ingest_again), methods=POST),
        Route("/library/{document:int}/remove", signed_in(shelf.remove), methods=POST),
        Route("/library/{document:int}/confirm", signed_in(experts.confirm), methods=POST),
        Route("/jobs", signed_in(jobs.show_list)),
        Route("/jobs/{job:int}/retry", signed_in(jobs.retry), methods=POST),
        Route("/audit", signed_in(log.show_list)),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]


async def _home(_request: Request) -> Response:
    return RedirectResponse(TRACES)


class Guarded:
    """Tells browsers what the pages may do: nothing but show themselves; nobody keeps a copy."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                kept = "/static/" in scope["path"]
                headers["cache-control"] = "max-age=300" if kept else "no-store"
            await send(message)

        await self._app(scope, receive, guarded)


def _handlers() -> dict[object, ExceptionHandler]:
    away = (OperationalError, InterfaceError, PoolTimeoutError, OSError, LibraryError, TraceError)
    wrong = (FilterError, CorrectionError, CursorError, GapStateError, ReviewError)
    return {
        HTTPException: _refused,
        Exception: _broken,
        **dict.fromkeys(away, _away),
        **dict.fromkeys(wrong, _wrong),
    }


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    told = str(error.detail) if isinstance(error, HTTPException) else ""
    if status == 403:  # noqa: PLR2004
        text = told if told != "Forbidden" else FORBIDDEN
        desk: Desk = request.app.state.desk
        return page(request, "refused.html", status=403, text=text, slack=login.SLACK if desk.openid else None)
    text = {404: "There is no such page, or you may not see it."}.get(status, told)
    return page(request, "message.html", status=status, title=TITLES.get(status, "That does not work"), text=text)


async def _wrong(request: Request, error: Exception) -> Response:
    return page(request, "message.html", status=400, title=TITLES[400], text=str(error))


async def _away(request: Request, error: Exception) -> Response:
    structured.warning("page_without_database", kind=type(error).__name__)
    text = "The database does not answer. Nothing is lost: try again shortly."
    return page(request, "message.html", status=503, title="Not now", text=text)


async def _broken(request: Request, _error: Exception) -> Response:
    """What happened is in the log alone."""
    return page(request, "message.html", status=500, title="Something went wrong", text="It is in the service's log.")
