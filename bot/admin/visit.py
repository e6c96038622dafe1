"""Who comes in: the session of a request, the proof that a form is ours, and the page that is sent back."""

import hmac
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.admin import audit
from bot.admin.audit import Deed
from bot.admin.desk import Desk
from bot.admin.rendering import page
from bot.admin.sessions import COOKIE, Session, Sessions
from bot.cleaning import clean

LARGEST_FORM = 1_000_000
"""Bytes."""
MOST_FIELDS = 500
TOKEN = "form_token"  # noqa: S105 - the name of a field

Handler = Callable[["Visit"], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One request of an admin."""

    request: Request
    desk: Desk
    session: Session
    form: FormData = field(default_factory=FormData)

    @property
    def engine(self) -> AsyncEngine:
        return self.desk.engine

    @property
    def team(self) -> str:
        return self.session.person.team

    @property
    def person(self) -> str:
        return self.session.person.id

    def path(self, name: str) -> str:
        """A piece of the address."""
        return clean(str(self.request.path_params[name]))

    def number(self, name: str) -> int:
        """A number in the address; no row has a larger one than Postgres can count to."""
        return min(int(self.request.path_params[name]), 2**63 - 1)

    def field(self, name: str) -> str:
        """A field of the form, empty where it is not there."""
        value = self.form.get(name)
        return clean(value).strip() if isinstance(value, str) else ""

    def query(self, name: str) -> str:
        return clean(self.request.query_params.get(name, "")).strip()

    async def names(self, people: Collection[str], channels: Collection[str] = ()) -> Mapping[str, str]:
        """What people and channels of the team are called, by id."""
        return await self.desk.names(self.team, people, channels)

    @property
    def everybody(self) -> str:
        """The space of the library that everybody in the team sees."""
        return self.desk.everybody(self.team)

    def page(self, template: str, *, status: int = 200, **context: Any) -> Response:
        return page(self.request, template, status=status, session=self.session, **context)

    async def note(self, action: str, subject: str = "", **detail: Any) -> None:
        """Writes in the audit log."""
        await audit.note(self.engine, self.session.person, Deed(action=action, subject=subject, detail=detail))


def signed_in(handler: Handler) -> Endpoint:
    """Lets admins alone through; what writes needs a form of this very session."""

    async def endpoint(request: Request) -> Response:
        desk: Desk = request.app.state.desk
        session = await Sessions(desk.engine).find(request.cookies.get(COOKIE, ""))
        if session is None or not desk.admins.include(session.person):
            raise HTTPException(403)
        called = await desk.names(session.person.team, {session.person.id}, ())
        session = replace(session, name=called.get(session.person.id) or session.person.id)
        form = FormData()
        if request.method == "POST":
            form = await read_form(request)
            _expect_ours(form, session)
        return await handler(Visit(request=request, desk=desk, session=session, form=form))

    return endpoint


async def read_form(request: Request) -> FormData:
    """The form of a page of ours: sent from this very address, and no larger than a form can be."""
    expect_same_origin(request)
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length[:20]) > LARGEST_FORM:
        raise HTTPException(413, "What was sent is too large.")
    return await request.form(max_files=0, max_fields=MOST_FIELDS, max_part_size=LARGEST_FORM)


def expect_same_origin(request: Request) -> None:
    """Browsers say where a form comes from; one that does not say, is refused by its token."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise HTTPException(403, "This form was sent from another site.")


def back(to: str) -> RedirectResponse:
    """After something was written: the page that shows it, so that reloading writes nothing again."""
    return RedirectResponse(to, status_code=303)


def _expect_ours(form: FormData, session: Session) -> None:
    token = form.get(TOKEN)
    if not isinstance(token, str) or not hmac.compare_digest(
        token.encode(errors="replace"), session.form_token.encode()
    ):
        raise HTTPException(403, "This form is not of your session. Go back, load the page anew and try again.")
