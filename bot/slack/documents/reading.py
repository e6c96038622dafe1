"""Reads the files that came with a question into the space of its conversation, and says which it could not, and why."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from bot.inbox import Claim, ClaimLostError, Inbox
from bot.slack import words
from bot.slack.documents.files import FileError, Files
from bot.slack.replies.inquiry import Show
from bot.slack.replies.stages import READ
from bot.slack.views.attached import Reading, Unread
from bot.slack.views.blocks import shorten
from bot.slack.web import SlackAwayError
from crag_graph.domain import Stage
from crag_graph.knowledge.attached import Attached
from crag_graph.knowledge.documents import StoredDocument
from crag_graph.knowledge.ingest import Ingest
from crag_graph.knowledge.sources import Upload
from crag_graph.phrases import Phrase

log = structlog.get_logger()

MOST_FILES = 10
MOST_PASSAGES = 300
"""Of all files of a question together: somebody is waiting."""
SECONDS = 120.0
"""For one file, after it is there; fetching it has as many."""
TRIES = 3
"""Attempts at the question after which a file that Slack does not hand out is left."""
AT_ONCE = 2
"""Files of a team that are read at once in one process: embedding them takes the processor from every other answer."""

TOO_MANY = Phrase("More than {most} files in one message are not read. Send it in another message.")
NO_ROOM = Phrase("The files before it are so long that I stopped there. Send it in another message.")
TOO_SLOW = Phrase("It took too long to read. Add it to the library, where I have the time.")
AWAY = Phrase("Slack does not hand it out at the moment. Send it again later.")


@dataclass(frozen=True, kw_only=True)
class Reader:
    """What is read is there only as long as its conversation."""

    inbox: Inbox
    ingest: Ingest
    files: Files
    attached: Attached
    seconds: float = SECONDS
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def read(self, claim: Claim, files: Sequence[tuple[str, str]], show: Show) -> Reading:
        """Files by id and name, once however often it is tried. Call it while the conversation is held.

        Raises SlackAwayError where another attempt may reach Slack, ClaimLostError where nobody wants it any more,
        a ServiceError where the library or the embedding model fails.
        """
        reading = await self._read(claim, files, show)
        try:
            await self.inbox.is_stopped(claim)
        except ClaimLostError:  # it was forgotten or deleted meanwhile
            await self.attached.drop(claim.conversation, [file for file, _ in files])
            raise
        log.info("files_read", read=len(reading.read), unread=len(reading.unread))
        return reading

    async def _read(self, claim: Claim, files: Sequence[tuple[str, str]], show: Show) -> Reading:
        read: list[StoredDocument] = []
        unread = [_unread(name, TOO_MANY(most=MOST_FILES)) for _, name in files[MOST_FILES:]]
        for file, name in files[:MOST_FILES]:
            room = MOST_PASSAGES - sum(document.passages for document in read)
            await show(Stage(node=READ, detail=name or words.THE_FILE()))
            one = await self._one(claim, file, name, room) if room > 0 else _unread(name, NO_ROOM())
            if isinstance(one, Unread):
                unread.append(one)
            else:
                read.append(one)
        return Reading(read=tuple(read), unread=tuple(unread))

    async def _one(self, claim: Claim, file: str, name: str, room: int) -> StoredDocument | Unread:
        try:
            return await self._taken_in(claim, file, room)
        except FileError as error:
            return _unread(name, str(error))
        except TimeoutError:
            return _unread(name, TOO_SLOW())
        except SlackAwayError:
            if claim.attempt < TRIES:
                raise
            return _unread(name, AWAY())

    async def _taken_in(self, claim: Claim, file: str, room: int) -> StoredDocument | Unread:
        shared = await self.files.fetch(file)
        name = shorten(shared.name)
        upload = Upload(filename=shared.name, data=shared.data, source=file, link=shared.permalink or None, title=name)
        taken = self.ingest.ingest(upload, space=claim.conversation, added_by=claim.person, kept=False, most=room)
        async with self.turns, asyncio.timeout(self.seconds):
            (one,) = [one async for one in taken]
        if one.document is None or one.reason:
            return _unread(name, one.reason)
        return one.document


def _unread(name: str, reason: str) -> Unread:
    return Unread(name=name or words.THE_FILE(), reason=reason)
