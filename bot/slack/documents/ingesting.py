"""Takes into the library what people give in Slack: addresses, pasted text, shared files; one message tells how it goes."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import structlog

from bot.inbox import Claim, ClaimLostError, Inbox, InboxError
from bot.jobs import RetryLaterError
from bot.slack import words
from bot.slack.documents.files import FileError, Files
from bot.slack.incoming import Me
from bot.slack.replies.private import Private
from bot.slack.replies.thread import Thread
from bot.slack.views.blocks import notice_reply, posts
from bot.slack.web import SlackAwayError, SlackError, SlackRefusedError, Web
from crag_graph.knowledge.attached import Attached
from crag_graph.knowledge.ingest import Ingest, Ingested, Outcome, Step
from crag_graph.knowledge.sources import Upload, is_address
from crag_graph.phrases import Phrase
from crag_graph.services import ServiceError

log = structlog.get_logger()

MOST_ATTEMPTS = 6
PAUSE = 5.0
EDIT_EVERY = 2.0
"""Seconds between two changes of the message that tells the progress."""
ADDING = Phrase("Adding {name}…")
GOING_ON = Phrase("Adding {name}: {done} of {passages} passages…")
NOT_ADDED = Phrase("Not added: {name}. {reason}")
DONE = {
    Outcome.ADDED: Phrase("Added **{title}** (number {number}, passages: {passages}). {where}"),
    Outcome.REPLACED: Phrase(
        "Replaced by its new version: **{title}** (number {number}, passages: {passages}). {where}"
    ),
    Outcome.UNCHANGED: Phrase("Unchanged: **{title}** (number {number}, passages: {passages}). {where}"),
}
SUPERSEDED = Phrase("It says that it was superseded, so it ranks behind current documents.")
AWAY = Phrase("The library cannot be reached or the embedding model is away. I will try again in {seconds} seconds.")
GIVEN_UP = Phrase("This did not work after several tries. Try again later.")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What somebody wants to have in the library. Exactly one of `address`, `text` and `file` is given."""

    space: str
    where: str
    """Who will see it, in words."""
    channel: str
    user: str
    thread: str = ""
    """The ts of the thread in which the progress is told; empty: in the channel."""
    ts: str = ""
    response_url: str = ""
    address: str = ""
    title: str = ""
    """What it is to be called; empty: as the document itself says."""
    text: str = ""
    source: str = ""
    """The address in Slack of what the text was said in; empty: the text was pasted, and its title names it."""
    file: str = ""
    conversation: str = ""
    """The file came with it and was read in part; that part goes when the library has the whole."""
    refusal: str = ""
    """Why nothing is added, instead of anything else."""

    @property
    def name(self) -> str:
        return self.address or self.title or words.THE_FILE()


@dataclass(frozen=True, kw_only=True)
class Ingesting:
    """What is done in one team for something that is to be in the library."""

    me: Me
    web: Web
    inbox: Inbox
    ingest: Ingest
    files: Files
    attached: Attached

    async def handle(self, claim: Claim) -> bool:
        """True where another item waits, or may wait."""
        try:
            await self._bring(claim, Request(**claim.payload["request"]))
            return await self.inbox.done(claim)
        except ClaimLostError:
            log.info("claim_lost", conversation=claim.conversation)
            return True

    async def _bring(self, claim: Claim, request: Request) -> None:
        board = Board(self, claim, request)
        try:
            said = claim.outcome or await self._take(claim, request, board)
            await self.inbox.prepared(claim, said)
            await board.say(said, last=True)
        except SlackAwayError as error:
            if claim.attempt < MOST_ATTEMPTS:
                raise RetryLaterError(PAUSE * claim.attempt) from error

    async def _take(self, claim: Claim, request: Request, board: "Board") -> str:
        """What is to be said in the end. Raises RetryLaterError."""
        if request.refusal:
            return request.refusal
        await board.say(ADDING(name=request.name))
        try:
            source = await self._source(request)
            name = source.filename if request.file and isinstance(source, Upload) else request.name
            taken = [one async for one in self._ingested(source, request, board)]
            if request.conversation and not any(one.reason for one in taken):
                await self.attached.drop(request.conversation, [request.file])
            return "\n".join(_told(one, name, request.where) for one in taken)
        except FileError as error:
            return f"{error}"
        except ServiceError as error:
            if claim.attempt >= MOST_ATTEMPTS:
                return GIVEN_UP()
            log.warning("ingest_failed", error=str(error))
            await board.say(AWAY(seconds=f"{PAUSE * claim.attempt:g}"))
            raise RetryLaterError(PAUSE * claim.attempt) from error
        except (SlackError, InboxError, ClaimLostError):
            raise
        except Exception:
            log.exception("ingest_broke")
            return GIVEN_UP()

    async def _ingested(self, source: str | Upload, request: Request, board: "Board") -> Any:
        async with board:
            async for one in self.ingest.ingest(
                source, space=request.space, added_by=request.user, progress=board.note
            ):
                yield one

    async def _source(self, request: Request) -> str | Upload:
        """Nothing but addresses and uploads: any other text would name a file of this machine."""
        if request.file:
            shared = await self.files.fetch(request.file)
            return Upload(
                filename=shared.name,
                data=shared.data,
                source=shared.permalink,
                link=shared.permalink or None,
                title=request.title,
            )
        if request.address and is_address(request.address):
            return request.address
        if request.source:
            said = request.text.encode()
            return Upload(
                filename="message.txt", data=said, source=request.source, link=request.source, title=request.title
            )
        source = f"slack:{request.space}:{request.title}"
        return Upload(filename=f"{request.title}.txt", data=request.text.encode(), source=source)


class Board:
    """The one message that says how it goes, changed as it goes."""

    def __init__(self, ingesting: Ingesting, claim: Claim, request: Request) -> None:
        self._ingesting = ingesting
        self._claim = claim
        self._request = request
        self._thread = Thread(
            web=ingesting.web,
            me=ingesting.me,
            channel=request.channel,
            root=request.thread,
            question=request.ts,
            mark=claim.mark,
        )
        self._ts = next(iter(claim.replies), "")
        self._looked = claim.attempt == 1
        self._refused = False
        self._line = ""
        self._ended = asyncio.Event()
        self._telling: asyncio.Task[None] | None = None

    def note(self, step: Step) -> None:
        """Called for each step; told at leisure."""
        if step.passages:
            self._line = GOING_ON(name=self._request.name, done=step.done, passages=step.passages)

    async def __aenter__(self) -> None:
        self._telling = asyncio.create_task(self._tell())

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        if self._telling:
            await asyncio.gather(self._telling, return_exceptions=True)

    async def say(self, text: str, *, last: bool = False) -> None:
        """Raises SlackAwayError. Where Slack takes no message of ours, the asker alone is told, in the end."""
        post = posts(notice_reply(text))[0]
        if not self._refused:
            try:
                await self._put(post)
            except SlackRefusedError as refused:
                log.info("progress_refused", code=refused.code)
                self._refused = True
            else:
                return
        if last:
            private = Private(
                web=self._ingesting.web,
                response_url=self._request.response_url,
                channel=self._request.channel,
                user=self._request.user,
            )
            await private.finish(notice_reply(text))

    async def _put(self, post: Any) -> None:
        if not self._ts and not self._looked:
            self._ts = (await self._thread.find()).get(0, "")
            self._looked = True
        if self._ts:
            await self._thread.change(self._ts, post)
            return
        self._ts = await self._thread.post(post, 0)
        await self._ingesting.inbox.posted(self._claim, [self._ts])

    async def _tell(self) -> None:
        told = ""
        while not self._ended.is_set():
            try:
                await asyncio.wait_for(self._ended.wait(), EDIT_EVERY)
            except TimeoutError:
                if self._line != told and self._ts:
                    told = self._line
                    await self._thread.try_change(self._ts, posts(notice_reply(told))[0])


def _told(one: Ingested, name: str, where: str) -> str:
    if one.outcome is Outcome.FAILED or one.document is None:
        return NOT_ADDED(name=name, reason=one.reason)
    document = one.document
    done = DONE[one.outcome](title=document.title, number=document.id, passages=document.passages, where=where)
    return f"{done} {SUPERSEDED()}" if document.superseded else done


def subject_of(request: Request) -> str:
    """One source of a space is worked on by one worker at a time."""
    return f"ingest:{request.space}:{request.address or request.source or request.file or request.title}"


def payload_of(request: Request) -> Mapping[str, Any]:
    return {"request": asdict(request)}
