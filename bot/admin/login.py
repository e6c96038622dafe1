"""Signing in, with a one-time link or with Slack, and out."""

from dataclasses import replace

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.admin import audit, openid
from bot.admin.admins import Person
from bot.admin.audit import Deed
from bot.admin.desk import Desk
from bot.admin.filters import TRACES
from bot.admin.openid import OpenId, SignInError
from bot.admin.rendering import page
from bot.admin.sessions import COOKIE, HOURS, Sessions
from bot.admin.visit import Visit, back, expect_same_origin

NOT_VALID = "This link is not valid: it was used already, is too old, or was never made here."
SLACK = "/admin/login/slack"
SLACK_COOKIE = "crag_sign_in"
NOT_BEGUN = "Signing in with Slack did not work: it was not begun in this browser, was done already, or took too long."
NOT_TOLD = "Slack did not sign you in. Try again."
NOT_ADMIN = "You are not an admin of this bot."


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
    return await _let_in(request, person)


async def ask_slack(request: Request) -> Response:
    """To Slack. A link leads here and no form: browsers hold a form's redirects to `form-action`, too."""
    desk: Desk = request.app.state.desk
    at_slack = _openid(desk)
    secret = await openid.begin(desk.engine)
    response = RedirectResponse(at_slack.page(secret, callback=_callback(desk)), status_code=303)
    seconds = int(openid.LIFETIME.total_seconds())
    _set_cookie(response, desk, SLACK_COOKIE, secret, seconds=seconds, path=SLACK)
    return response


async def back_from_slack(request: Request) -> Response:
    desk: Desk = request.app.state.desk
    at_slack = _openid(desk)
    nobody = Person(team=at_slack.team, id="")
    secret = request.cookies.get(SLACK_COOKIE, "")
    if not await openid.is_ours(desk.engine, secret, request.query_params.get("state", "")):
        raise await _refusal(desk, nobody, "not begun in this browser, done already, or too late", NOT_BEGUN)
    try:
        person = await at_slack.whose(request.query_params.get("code", ""), secret, callback=_callback(desk))
    except SignInError as error:
        raise await _refusal(desk, nobody, str(error), NOT_TOLD) from error
    if not await at_slack.knows(person.team):
        raise await _refusal(desk, nobody, f"{person.id} is of another team, {person.team}", NOT_ADMIN)
    if desk.admins.workspace:
        person = replace(person, vouched=await at_slack.vouches(person.team, person.id))
    if not desk.admins.include(person):
        raise await _refusal(desk, person, "no admin", NOT_ADMIN)
    response = await _let_in(request, person, way="Slack")
    response.delete_cookie(SLACK_COOKIE, path=SLACK)
    return response


async def sign_out(visit: Visit) -> Response:
    await Sessions(visit.engine).end(visit.request.cookies.get(COOKIE, ""))
    await visit.note("signed out")
    response = back("/admin/bye")
    response.delete_cookie(COOKIE, path="/admin")
    return response


async def bye(request: Request) -> Response:
    return page(request, "message.html", title="Signed out", text="Run /crag-traces in Slack to come back.")


async def _let_in(request: Request, person: Person, *, way: str = "") -> Response:
    desk: Desk = request.app.state.desk
    sessions = Sessions(desk.engine)
    await sessions.end(request.cookies.get(COOKIE, ""))
    cookie = await sessions.start(person)
    await audit.note(desk.engine, person, Deed(action="signed in", detail={"with": way}))
    response = RedirectResponse(TRACES, status_code=303)
    _set_cookie(response, desk, COOKIE, cookie, seconds=HOURS * 3600, path="/admin")
    return response


def _set_cookie(response: Response, desk: Desk, name: str, value: str, *, seconds: int, path: str) -> None:
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path=path,
        secure=desk.links.address.startswith("https:"),
        httponly=True,
        samesite="lax",  # a strict one would not be sent with a link in Slack, nor on the way back from there
    )


def _openid(desk: Desk) -> OpenId:
    if desk.openid is None:
        raise HTTPException(404)
    return desk.openid


def _callback(desk: Desk) -> str:
    return f"{desk.links.address}{SLACK}/done"


async def _refusal(desk: Desk, person: Person, reason: str, text: str) -> HTTPException:
    await audit.note(
        desk.engine, person, Deed(action="was refused", subject="sign-in with Slack", detail={"why": reason})
    )
    return HTTPException(403, text)
