"""Works off the questions of a conversation: claimed, answered, delivered once, whatever happens in between."""

import asyncio
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, Self

import structlog

from bot.answering import Answering
from bot.channels.settings import ChannelSettings, Manner, WebUse
from bot.channels.store import Channels, ChannelsError
from bot.failures import failure
from bot.inbox import Claim, ClaimLostError, Inbox, InboxError
from bot.jobs import RetryLaterError
from bot.questions import Answered, AnswerFailedError, Question, QuestionError
from bot.slack import words
from bot.slack.incoming import Kind, Me, Message
from bot.slack.replies.asked import Asked, Asking
from bot.slack.replies.forgetting import Forgetting
from bot.slack.replies.inquiry import Inquiry, Reader
from bot.slack.replies.pace import Pace
from bot.slack.replies.private import Private
from bot.slack.replies.progress import Live
from bot.slack.replies.relay import Relay
from bot.slack.replies.second_thoughts import SecondThoughts
from bot.slack.replies.thread import placed_before, thread_of
from bot.slack.replies.treasurer import Treasurer
from bot.slack.text.mrkdwn import wordless
from bot.slack.views.attached import BEGINNING, Reading, read_reply, remarks
from bot.slack.views.blocks import Reply, answer_reply, notice_reply
from bot.slack.views.limits import limit_reply
from bot.slack.views.offers import Possible
from bot.slack.web import SlackAwayError, SlackError, SlackRefusedError, Web, heard
from crag_graph.domain import Progress
from crag_graph.knowledge.attached import Attached
from crag_graph.phrases import speak
from crag_graph.services import ServiceError

log = structlog.get_logger()

TRIES = 3
"""Attempts at an answer when its models or the library fail for the moment."""
MOST_ATTEMPTS = 12
"""A question that workers die of, or that Slack will not take, is given up then."""
LONGEST_PAUSE = 300.0
LOOK_FOR_STOP = 0.25
"""Seconds: Stop may have been pressed in another process."""


class Outlet(Protocol):
    """Where a reply goes."""

    stopped: asyncio.Event

    @property
    def text(self) -> str:
        """What could be read of the answer so far."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    async def begin(self) -> None:
        """A question is about to be answered."""

    async def show(self, progress: Progress) -> None: ...

    async def finish(self, reply: Reply) -> list[str]:
        """The ts of what was posted, if anybody may know it."""


class StoppedError(Exception):
    """The asker pressed Stop."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What is done in one team for an item of a conversation: answered, or forgotten."""

    me: Me
    web: Web
    inbox: Inbox
    answering: Answering
    channels: Channels
    pace: Pace
    asking: Asking
    inquiry: Inquiry
    reader: Reader
    attached: Attached
    forgetting: Forgetting
    second_thoughts: SecondThoughts
    relay: Relay
    treasurer: Treasurer
    limits: Mapping[str, int] = field(default_factory=dict)

    async def handle(self, claim: Claim) -> bool:
        """True where another item waits, or may wait."""
        try:
            if "forget" in claim.payload:
                await self.forgetting.work(claim)
                return await self.inbox.done(claim)
            if "withdrawn" in claim.payload:
                message = Message(**_fields(claim.payload["withdrawn"]))
                await self.second_thoughts.withdraw(claim, message)
                await self.attached.drop(claim.conversation, message.files)
                return await self.inbox.done(claim, [])
            if "edited" in claim.payload:
                await self.second_thoughts.offer(claim)
                return await self.inbox.done(claim)
            replies = await self._answer_message(claim, Message(**_fields(claim.payload["message"])))
            return await self.inbox.done(claim, replies)
        except ClaimLostError:
            log.info("claim_lost", conversation=claim.conversation)
            return True
        except (RetryLaterError, InboxError):
            raise
        except Exception as error:
            log.warning("reply_failed", attempt=claim.attempt, exc_info=not isinstance(error, SlackAwayError))
            return await self._later(claim, error)

    async def _answer_message(self, claim: Claim, message: Message) -> list[str]:
        try:
            if self.relay.takes(claim):
                return await self.relay.work(claim, message)
            return await self._reply(claim, message)
        except SlackRefusedError as refused:
            await self._explain(message, refused)
            return list(claim.replies)

    async def _reply(self, claim: Claim, message: Message) -> list[str]:
        async with await self._outlet(claim, message) as outlet:
            reply = Reply(**claim.outcome) if claim.outcome else await self._compose(claim, message, outlet)
            await self.inbox.prepared(claim, asdict(reply))
            return await outlet.finish(reply)

    async def _outlet(self, claim: Claim, message: Message) -> Outlet:
        url = claim.payload.get("response_url") or ""
        if url or message.private:
            return Private(
                web=self.web,
                response_url=url,
                channel=message.channel,
                user=message.user,
                thread=message.thread if message.private and message.is_reply else "",
            )
        thread = thread_of(claim, message, web=self.web, me=self.me)

        async def find() -> dict[int, str]:
            return await placed_before(claim, thread, self.inbox)

        placed = dict(enumerate(claim.replies))
        if claim.attempt > 1:
            placed = await find() | placed
        return Live(
            thread=thread,
            pace=self.pace,
            user=message.user,
            team=message.home or self.me.team,
            record=lambda replies: self.inbox.posted(claim, replies),
            find=find,
            placed=placed,
            resumed=claim.attempt > 1,
            item=claim.ts,
        )

    async def _compose(self, claim: Claim, message: Message, outlet: Outlet) -> Reply:
        """The reply to a message, which may be an apology. Raises RetryLaterError."""
        if claim.attempt > MOST_ATTEMPTS:
            return notice_reply(words.ASK_LATER())
        try:
            return await self._answer(claim, message, outlet)
        except QuestionError as error:
            return notice_reply(str(error))
        except StoppedError:
            said = "\n\n".join(filter(None, [outlet.text.strip(), words.STOPPED()]))
            return notice_reply(said, spoken=words.STOPPED())
        except (AnswerFailedError, ServiceError) as error:
            return await self._failed(claim, error if isinstance(error, AnswerFailedError) else failure(error), outlet)
        except (SlackError, InboxError, ChannelsError, ClaimLostError):
            raise
        except Exception:
            log.exception("answer_failed")
            return notice_reply(words.apology())

    async def _answer(self, claim: Claim, message: Message, outlet: Outlet) -> Reply:
        settings = await self.channels.of(message.team, message.channel)
        if settings.manner is Manner.OFF and message.kind is not Kind.DM:
            return notice_reply(words.switched_off(settings.changers))
        if full := await self.inbox.full_until(claim, self.limits):
            return limit_reply(int(full.timestamp()), f"{full:%H:%M} UTC")
        asked = await self.asking.read(claim, message)
        speak(await self.inquiry.directory.language(message.user, asked.text))
        if wordless(asked.text) and not asked.files:
            return notice_reply(words.HINT())
        if claim.attempt == 1:
            await outlet.begin()
        return await self._stoppable(claim, outlet, self._made(claim, message, asked, settings, outlet))

    async def _made(
        self, claim: Claim, message: Message, asked: Asked, settings: ChannelSettings, outlet: Outlet
    ) -> Reply:
        """The answer, after the files that came with the question were read."""
        reading = await self._read(claim, asked, outlet) if asked.files else Reading()
        if asked.files and (wordless(asked.text) or not reading.read):
            return read_reply(reading, message.conversation)
        question = await self.inquiry.question(asked, message, settings)
        answered = await self.answering.answer(question, outlet.show)
        await self.treasurer.look(message.team)
        return answer_reply(
            answered,
            self._possible(claim, message, settings, question),
            of_files=question.files_alone,
            remarks=_remarks(reading, question, answered),
        )

    async def _read(self, claim: Claim, asked: Asked, outlet: Outlet) -> Reading:
        """Who forgets the conversation meanwhile waits until nothing of it is being read any more."""
        async with self.answering.hold(claim.conversation):
            return await self.reader.read(claim, asked.files, outlet.show)

    async def _stoppable(self, claim: Claim, outlet: Outlet, answer: Awaitable[Reply]) -> Reply:
        """Waits for the answer, or for the asker to press Stop."""
        answering = asyncio.ensure_future(answer)
        watching = asyncio.ensure_future(self._wait_for_stop(claim, outlet))
        try:
            await asyncio.wait([answering, watching], return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                answering.cancel()
                await asyncio.wait([answering])
                watching.result()
                raise StoppedError
            return answering.result()
        finally:
            answering.cancel()
            watching.cancel()
            await asyncio.gather(answering, watching, return_exceptions=True)

    async def _wait_for_stop(self, claim: Claim, outlet: Outlet) -> None:
        """Raises ClaimLostError where the question was edited, deleted or forgotten: then it ends, too."""
        while not outlet.stopped.is_set():
            if await self.inbox.is_stopped(claim):
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(outlet.stopped.wait(), LOOK_FOR_STOP)

    def _possible(self, claim: Claim, message: Message, settings: ChannelSettings, question: Question) -> Possible:
        among_others = not message.channel.startswith("D")
        private = message.private or bool(claim.payload.get("response_url"))
        return Possible(
            web=self.answering.has_web and settings.web is not WebUse.OFF and not question.gist,
            sharing=private and among_others,
            people=settings.calls_people and among_others,
            telling=not question.files_alone,
            keeping=message.conversation if question.files_alone else "",
        )

    async def _failed(self, claim: Claim, failed: AnswerFailedError, outlet: Outlet) -> Reply:
        """An apology; before it, while another try may help, a word on what happens next."""
        if not failed.transient:
            return notice_reply(words.apology(failed.trace_id))
        if claim.attempt >= TRIES:
            return notice_reply(f"{failed.reason} {words.ASK_LATER()}")
        pause = self.pace.again_after * claim.attempt
        await self.inbox.posted(claim, await outlet.finish(notice_reply(words.again(failed.reason, pause))))
        raise RetryLaterError(pause)

    async def _later(self, claim: Claim, error: Exception) -> bool:
        if claim.attempt >= MOST_ATTEMPTS:
            log.error("reply_given_up", conversation=claim.conversation, attempts=claim.attempt)
            return await self.inbox.done(claim)
        raise RetryLaterError(min(self.pace.again_after * 2 ** (claim.attempt - 1), LONGEST_PAUSE)) from error

    async def _explain(self, message: Message, refused: SlackRefusedError) -> None:
        """Tells the asker in their direct messages why nothing stands where they asked."""
        log.warning("reply_refused", code=refused.code, channel=message.channel)
        try:
            await heard(
                self.web.patient.chat_postMessage(
                    channel=message.user, text=words.refusal(refused.code, message.channel)
                )
            )
        except SlackError as error:
            log.warning("asker_not_told", code=error.code)


def _remarks(reading: Reading, question: Question, answered: Answered) -> list[str]:
    """What must be known of the files beside the answer."""
    read = sum(document.passages for document in reading.read)
    in_part = answered.answer.quoted or not read or len(answered.passages) < read
    began = question.gist and in_part and not answered.answer.abstained
    return [*([BEGINNING()] if began else []), *remarks(reading)]


def _fields(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {**stored, **{name: tuple(stored.get(name, ())) for name in ("files", "names")}}
