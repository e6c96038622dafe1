"""The page *Audit*: who did what here."""

from starlette.responses import Response

from bot.admin import audit
from bot.admin.filters import FilterError
from bot.admin.visit import Visit

NUMBERS = 18
"""Digits of the largest number that a row can have."""


async def show_list(visit: Visit) -> Response:
    before = visit.query("before")
    if before and not (before.isascii() and before.isdecimal() and len(before) <= NUMBERS):
        raise FilterError("before is the number of an entry.")
    deeds = await audit.read(visit.engine, team=visit.team, before=int(before) if before else None)
    return visit.page(
        "audit.html",
        deeds=deeds,
        names=await visit.names({deed["person"] for deed in deeds if deed["person"]}, ()),
        next=deeds[-1]["id"] if len(deeds) == audit.PAGE else None,
    )
