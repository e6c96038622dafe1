"""The slash command that feeds and tends the library, and files that are shared with a mention."""

import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.channels.settings import Ingesters
from bot.channels.store import Channels
from bot.inbox import Inbox, Item
from bot.jobs import Kind, Queue
from bot.slack.access import space_for_ingest, space_of
from bot.slack.directory import Directory, Place
from bot.slack.documents.ingesting import Request, payload_of, subject_of
from bot.slack.incoming import Me, Message
from bot.slack.listeners.commands import Command
from bot.slack.text.mrkdwn import decode, escape, unescape
from bot.slack.views.blocks import shorten
from crag_graph.knowledge.attached import Attached
from crag_graph.knowledge.documents import StoredDocument
from crag_graph.knowledge.library import Library
from crag_graph.knowledge.sources import is_address
from crag_graph.phrases import Phrase, amount

HELP = Phrase(
    "*What I can do with the library*\n"
    "• `/crag-ingest URL` adds a page or document from the web\n"
    "• `/crag-ingest text TITLE`, and the text on the lines below, adds pasted text\n"
    "• share a file and mention me with the word `ingest` to add it; with a question, I answer from it and keep "
    "it only if you say so\n"
    "• `/crag-ingest list` shows what is here, `status` how much\n"
    "• `/crag-ingest refresh NUMBER` (or `all`) fetches addresses again, `remove NUMBER` takes a document out\n"
    "What is added here can be asked about here. `--workspace` in a public channel adds it for everybody; "
    "only admins may do that."
)
MAY_NOT_INGEST = {
    Ingesters.ADMINS: Phrase("Only admins may add documents in this channel. `/crag-settings` shows what holds here."),
    Ingesters.NAMED: Phrase("Only some people may add documents in this channel. `/crag-settings` shows who."),
}
STATUS = Phrase(
    "Documents here: {documents}. Passages that can be asked about: {passages}. Documents that failed: {failed}."
)
NO_PLACES = ("slack:", "expert-answer:")
"""How sources begin that are names of ours: they tell nobody where a text came from."""
ADMINS_FOR_ALL = Phrase("Only admins may add documents for the whole workspace. Leave out `--workspace`.")
FOR_ALL = Phrase("Everybody in the workspace can ask about it.")
FOR_CHANNEL = Phrase("It can be asked about in #{channel} alone.")
FOR_HERE = Phrase("It can be asked about here alone.")
NO_ADDRESS = Phrase("“{text}” is not an address that I can fetch.")
ADDING_ADDRESS = Phrase("I am adding {address}. {where}")
ADDING_TEXT = Phrase("I am adding “{title}”. {where}")
TITLE_FIRST = Phrase(
    "Give the text a title, and put it on the lines below: `/crag-ingest text TITLE` and then the text."
)
TEXT_TOO_LONG = Phrase("The text has {number} characters; {most} are possible. Share it as a file instead.")
NOT_YOURS = Phrase("Only <@{person}>, who added it, or an admin may remove “{title}”.")
REMOVED = Phrase("Removed: “{title}”. Answers use it no more.")
NOTHING_TO_FETCH = Phrase("There is nothing to fetch again: only documents that came from the web can be refreshed.")
FETCHING = Phrase("I am fetching again. Documents: {number}.")
NO_SUCH = Phrase("There is no document {which} here.")
BY_NUMBER = Phrase("Name a document by its number in `/crag-ingest list`: `/crag-ingest {verb} 12`.")
NOTHING_YET = Phrase("There is nothing here yet.")
MORE = Phrase("{number} more: `/crag-ingest list {page}`")
ALL_LISTED = Phrase("That is all.")
LISTED_FAILED = Phrase("failed: {problem}")
LISTED = Phrase("passages: {passages}")
LISTED_FOR_ALL = Phrase("for everybody")
PAGE = 15
MOST_CHARACTERS = 200_000
"""Of pasted text; a slash command brings far less."""
FOR_EVERYBODY = "--workspace"
_INGEST = re.compile(
    r"(please\s+)?(crag-)?(ingest\b.*|(add|learn|index)(\s+(this|these|it|them|the|to|our|your|files?|library|please))*)\W*",
    re.IGNORECASE | re.DOTALL,
)
"""What else begins with "add" or "index" may be a question: "Add up the prices"."""
_LINK = re.compile(r"<([a-z][a-z0-9+.-]*://[^|>]+)(?:\|[^>]*)?>", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """What a command needs to tend the library of the place where it was given. `admins`: who may do more."""

    me: Me
    channels: Channels
    directory: Directory
    library: Library
    attached: Attached
    inbox: Inbox
    queue: Queue
    admins: frozenset[str]

    async def put(self, request: Request) -> None:
        """Stores and queues one piece of work. Raises InboxError or QueueError."""
        ts = request.ts or f"{time.time():.6f}"
        subject = subject_of(request)
        item = Item(
            team=self.me.team,
            channel=request.channel,
            ts=f"{ts}-{request.file or secrets.token_hex(4)}",
            conversation=subject,
            person=request.user,
            payload=payload_of(replace(request, ts=ts)),
        )
        if await self.inbox.receive(item):
            await self.queue.put(Kind.INGEST, subject)

    async def request(self, channel: str, user: str, *, for_everybody: bool = False) -> Request:
        """The frame of a request: where it goes. Raises PermissionError with the reason."""
        place = await self.directory.place(channel)
        if for_everybody and user not in self.admins:
            raise PermissionError(ADMINS_FOR_ALL())
        await self.check_ingester(channel, user)
        space = space_for_ingest(me=self.me, place=place, for_everybody=for_everybody)
        return Request(space=space, where=self.where(space, place), channel=channel, user=user)

    async def is_admin(self, user: str) -> bool:
        """One of those who are named in the settings, or an admin of the workspace."""
        return user in self.admins or (await self.directory.person(user)).admin

    async def check_ingester(self, channel: str, user: str) -> None:
        """Raises PermissionError with the reason where the person may not add documents in the channel."""
        settings = await self.channels.of(self.me.team, channel)
        if not settings.may_ingest(user, admin=await self.is_admin(user)):
            raise PermissionError(MAY_NOT_INGEST[settings.ingest]())

    async def documents(self, channel: str, user: str) -> tuple[StoredDocument, ...]:
        """What may be tended here: the documents of this place, and those of everybody by admins."""
        spaces = [space_of(self.me.team, channel), *([self.me.everybody] if user in self.admins else [])]
        return await self.library.documents(spaces)

    def where(self, space: str, place: Place) -> str:
        """Who can ask about a document of the space, in words."""
        if space == self.me.everybody:
            return FOR_ALL()
        return FOR_CHANNEL(channel=place.name) if place.name else FOR_HERE()

    def is_of_the_web(self, document: StoredDocument) -> bool:
        """What was said or shared in Slack lies behind its address, too, but there we would find a login page."""
        source = document.source
        in_slack = (self.me.url and source.startswith(self.me.url)) or _host(source).endswith("slack.com")
        return is_address(source) and not in_slack

    def line(self, one: StoredDocument) -> str:
        """A document in a list."""
        failed = one.state == "failed"
        state = LISTED_FAILED(problem=one.problem) if failed else LISTED(passages=one.passages)
        everybody = f" · {LISTED_FOR_ALL()}" if one.space == self.me.everybody else ""
        tells = one.source != one.title and not one.source.startswith(NO_PLACES)
        source = f" — {escape(shorten(one.source, 120))}" if tells else ""
        title = f"*{escape(shorten(one.title, 80))}*{source}"
        return f"{one.id} · {title} · {escape(state)}{everybody} · {one.added_at:%Y-%m-%d}"


async def on_ingest(ack: AsyncAck, body: Mapping[str, Any], shelf: Shelf) -> None:
    command = Command.read(body)
    for_everybody = FOR_EVERYBODY in command.text
    command = replace(command, text=command.text.replace(FOR_EVERYBODY, "").strip())
    verb, _, rest = command.text.partition(" ")
    try:
        await ack(await _run(verb.strip().lower(), rest.strip(), command, shelf, for_everybody=for_everybody))
    except PermissionError as refusal:
        await ack(str(refusal))


async def _run(verb: str, rest: str, command: Command, shelf: Shelf, *, for_everybody: bool) -> str:
    if verb in {"", "help"}:
        return HELP()
    if tend := TENDING.get(verb):
        return await tend(rest, command, shelf)
    request = await shelf.request(command.channel, command.user, for_everybody=for_everybody)
    request = replace(request, response_url=command.response_url)
    if verb.partition("\n")[0] == "text":
        return await _add_text(command.text.partition("text")[2], request, shelf)
    return await _add_address(command.text, request, shelf)


async def _add_address(text: str, request: Request, shelf: Shelf) -> str:
    found = _LINK.fullmatch(text.strip())
    address = unescape(found[1] if found else text.strip())
    if not is_address(address) or len(address.split()) != 1:
        return f"{NO_ADDRESS(text=escape(shorten(text, 100)))}\n{HELP()}"
    await shelf.put(replace(request, address=address))
    return ADDING_ADDRESS(address=escape(address), where=request.where)


async def _add_text(text: str, request: Request, shelf: Shelf) -> str:
    title, _, body = text.strip().partition("\n")
    body = decode(body, me="", names={})
    if not title.strip() or not body.strip():
        return TITLE_FIRST()
    if len(body) > MOST_CHARACTERS:
        return TEXT_TOO_LONG(number=amount(len(body)), most=amount(MOST_CHARACTERS))
    title = shorten(decode(title, me="", names={}), 150)
    await shelf.put(replace(request, title=title, text=body))
    return ADDING_TEXT(title=escape(title), where=request.where)


async def _remove(which: str, command: Command, shelf: Shelf) -> str:
    document = await _find(which, command, shelf)
    if document is None:
        return _no_such(which, "remove")
    if command.user not in {document.added_by, *shelf.admins}:
        return NOT_YOURS(person=document.added_by, title=escape(document.title))
    await shelf.library.remove(document.id)
    return REMOVED(title=escape(document.title))


async def _refresh(which: str, command: Command, shelf: Shelf) -> str:
    await shelf.check_ingester(command.channel, command.user)
    if which.lower() == "all":
        chosen = [one for one in await shelf.documents(command.channel, command.user) if shelf.is_of_the_web(one)]
    else:
        document = await _find(which, command, shelf)
        if document is None:
            return _no_such(which, "refresh")
        chosen = [document] if shelf.is_of_the_web(document) else []
    if not chosen:
        return NOTHING_TO_FETCH()
    place = await shelf.directory.place(command.channel)
    for document in chosen:
        await shelf.put(
            Request(
                space=document.space,
                where=shelf.where(document.space, place),
                channel=command.channel,
                user=document.added_by,
                response_url=command.response_url,
                address=document.source,
            )
        )
    return FETCHING(number=len(chosen))


async def _find(which: str, command: Command, shelf: Shelf) -> StoredDocument | None:
    wanted = which.removeprefix("#")
    documents = await shelf.documents(command.channel, command.user)
    return next((one for one in documents if wanted.isdigit() and one.id == int(wanted)), None)


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _no_such(which: str, verb: str) -> str:
    asked = [NO_SUCH(which=escape(shorten(which, 50)))] if which else []
    return " ".join([*asked, BY_NUMBER(verb=verb)])


async def _list(rest: str, command: Command, shelf: Shelf) -> str:
    documents = await shelf.documents(command.channel, command.user)
    if not documents:
        return f"{NOTHING_YET()}\n{HELP()}"
    page = int(rest) if rest.isdecimal() and int(rest) else 1
    lines = [shelf.line(one) for one in documents[(page - 1) * PAGE : page * PAGE]]
    more = len(documents) - page * PAGE
    further = [MORE(number=more, page=page + 1)] if more > 0 else []
    return "\n".join([*lines, *further]) or ALL_LISTED()


async def _status(_rest: str, command: Command, shelf: Shelf) -> str:
    documents = await shelf.documents(command.channel, command.user)
    failed = [one for one in documents if one.state == "failed"]
    passages = sum(one.passages for one in documents)
    line = STATUS(documents=len(documents), passages=passages, failed=len(failed))
    return "\n".join([line, *(shelf.line(one) for one in failed[:PAGE])])


TENDING = {"list": _list, "status": _status, "remove": _remove, "refresh": _refresh}


def wants_ingest(message: Message, me: Me) -> bool:
    """A file that is shared with the word `ingest` is meant for the library."""
    text = decode(message.text, me=me.user, names={}).replace(FOR_EVERYBODY, "").strip()
    return bool(message.files) and _INGEST.fullmatch(text) is not None


async def take_files(message: Message, shelf: Shelf) -> None:
    for_everybody = FOR_EVERYBODY in message.text and message.user in shelf.admins
    try:
        frame = await shelf.request(message.channel, message.user, for_everybody=for_everybody)
    except PermissionError as refusal:
        frame = Request(space="", where="", channel=message.channel, user=message.user, refusal=str(refusal))
    for file in message.files:
        await shelf.put(replace(frame, thread=message.thread, ts=message.ts, file=file))
