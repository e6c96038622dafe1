"""Signing in with a one-time link, and out."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.admin import audit
from bot.admin.audit import Deed
from bot.admin.desk import Desk
from bot.admin.filters import TRACES
from bot.admin.rendering import page
from bot.admin.sessions import COOKIE, HOURS, Sessions
from bot.admin.visit import Visit, back, expect_same_origin

NOT_VALID = "This link is not valid: it was used already, is too old, or was never made here."


async def ask_to_sign_in(request: Request) -> Response:
    """A page with a button: what only looks at links (previews, scanners) must not use them up."""
    desk: Desk = request.app.state.desk
    token = request.path_params["token"]
    if not await desk.links.is_good(token):
        raise HTTPException(403, NOT_VALID)
    return page(request, "sign_in.html", hours=HOURS)


async def sign_in(request: Request) -> Response:
    desk: Desk = request.app.state.desk
    expect_same_origin(request)
    person = await desk.links.use(request.path_params["token"])
    if person is None or not desk.admins.include(person):
        raise HTTPException(403, NOT_VALID)
    sessions = Sessions(desk.engine)
    await sessions.end(request.cookies.get(COOKIE, ""))
    cookie = await sessions.start(person)
    await audit.note(desk.engine, person, Deed(action="signed in"))
    response = RedirectResponse(TRACES, status_code=303)
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=HOURS * 3600,
        path="/admin",
        secure=desk.links.address.startswith("https:"),
        httponly=True,
        samesite="lax",
    )
    return response


async def sign_out(visit: Visit) -> Response:
    await Sessions(visit.engine).end(visit.request.cookies.get(COOKIE, ""))
    await visit.note("signed out")
    response = back("/admin/bye")
    response.delete_cookie(COOKIE, path="/admin")
    return response


async def bye(request: Request) -> Response:
    return page(request, "message.html", title="Signed out", text="Run /crag-traces in Slack to come back.")
