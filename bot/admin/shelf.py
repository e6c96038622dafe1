"""The page *Library*: what there is, how old, how often cited, what failed and why; read again, and removed."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import structlog
from starlette.exceptions import HTTPException
from starlette.responses import Response

from bot.admin.demoting import said_against
from bot.admin.documents import ANSWERS, PAGE, Owner, Shown, find_document, list_documents, list_spaces
from bot.admin.filters import LONGEST, FilterError
from bot.admin.visit import Visit, back
from crag_graph.knowledge.sources import is_address
from crag_graph.services import ServiceError

CHOICES = {"state": ("ready", "failed", "superseded", "expert", "due"), "cited": ("yes", "no")}
SENT = "It was sent, not read from a place: send it again in Slack."

SHOWN = 200
"""Passages of a document on its page."""

log = structlog.get_logger()


async def show_list(visit: Visit) -> Response:
    which = _shown(visit)
    found = await list_documents(visit.engine, which, owner=_owner(visit))
    spaces = await list_spaces(visit.engine, owner=_owner(visit))
    channels = {space.partition(":")[2] for space in spaces if space != visit.everybody}
    return visit.page(
        "library.html",
        documents=found[:PAGE],
        next=found[PAGE - 1]["id"] if len(found) > PAGE else None,
        which=which,
        spaces=spaces,
        everybody=visit.everybody,
        choices=CHOICES,
        names=await visit.names((), channels),
        now=visit.desk.now(),
        answers=ANSWERS,
        readable=is_readable,
        said=visit.query("said"),
    )


async def show_one(visit: Visit) -> Response:
    document = await _found(visit)
    passages = await visit.desk.ingest.library.passages(document["id"])
    return visit.page(
        "document.html",
        document=document,
        passages=passages,
        readable=is_readable(document["source"]),
        against=await said_against(visit, [one.text for one in passages[:SHOWN]], [document["space"]]),
        shown=SHOWN,
    )


async def ingest_again(visit: Visit) -> Response:
    """In the background: a long document takes minutes. What comes of it stands in the list and in the audit log."""
    document = await _found(visit)
    if not is_readable(document["source"]):
        raise HTTPException(409, SENT)
    await visit.note("reads a document again", document["source"])
    task = asyncio.create_task(_ingest(visit, document))
    visit.desk.errands.add(task)
    task.add_done_callback(visit.desk.errands.discard)
    return back("/admin/library?said=reading")


async def remove(visit: Visit) -> Response:
    document = await _found(visit)
    await visit.desk.ingest.library.remove(document["id"])
    await visit.note("removed a document", document["source"], title=document["title"], space=document["space"])
    return back("/admin/library?said=removed")


def is_readable(source: str) -> bool:
    """It can be read once more; behind the address of a file at Slack is a page that asks for a password."""
    if is_address(source):
        return not (urlsplit(source).hostname or "").endswith("slack.com")
    return Path(source).is_absolute()


async def _ingest(visit: Visit, document: Mapping[str, Any]) -> None:
    try:
        ingested = visit.desk.ingest.ingest(document["source"], space=document["space"], added_by=document["added_by"])
        async for one in ingested:
            await visit.note("has read a document again", one.source, outcome=one.outcome.value, reason=one.reason)
    except ServiceError as error:
        log.warning("document_not_read_again", kind=type(error).__name__)
        await visit.note("could not read a document again", document["source"], reason=str(error))


async def _found(visit: Visit) -> Mapping[str, Any]:
    document = await find_document(visit.engine, visit.number("document"), owner=_owner(visit))
    if document is None:
        raise HTTPException(404)
    return document


def _owner(visit: Visit) -> Owner:
    return Owner(team=visit.team, everybody=visit.everybody)


def _shown(visit: Visit) -> Shown:
    """From the address. Raises FilterError."""
    values = {name: visit.query(name)[:LONGEST] for name in ("space", "state", "cited")}
    for name, choices in CHOICES.items():
        if values[name] and values[name] not in choices:
            raise FilterError(f"{name} is one of: {', '.join(choices)}.")
    before = visit.query("before")
    if before and not (before.isascii() and before.isdecimal() and len(before) < 19):  # noqa: PLR2004 - digits of a bigint
        raise FilterError("before is the number of a document.")
    return Shown(**values, words=visit.query("q")[:LONGEST], before=int(before) if before else None)
