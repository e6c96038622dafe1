"""One message in, one answer out: the graph, what the conversation remembers, the trace and the progress."""

import asyncio
import secrets
import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import replace
from datetime import date
from typing import Any, cast

import psycopg
import structlog
from structlog.contextvars import bound_contextvars

from bot.budget.budget import Budget
from bot.cleaning import clean, clean_all
from bot.failures import failure
from bot.forgetting import Forgotten, forget
from bot.memory import Memory
from bot.questions import Answered, AnswerFailedError, JudgedPassage, Question, QuestionError, check
from bot.telemetry.finished import Finished, Watch
from bot.traces import TraceError
from bot.traces.journal import Journal
from bot.traces.recorder import Opening, OpenTrace, Recorder, RunState
from crag_graph.context import Context, Policy
from crag_graph.domain import Answer, Fault, Progress, Stage
from crag_graph.evaluators.whole import WholeEvaluator
from crag_graph.graph import build
from crag_graph.knowledge.attached import Attached, Beginnings
from crag_graph.phrases import Phrase
from crag_graph.services import Services
from crag_graph.state import State

__all__ = ["AnswerFailedError", "Answered", "Answering", "Forgotten", "Question", "QuestionError", "Show"]

log = structlog.get_logger()

NOT_REMEMBERED = Phrase("This answer could not be remembered: a follow-up has to say everything again.")

BUDGET_USED_UP = Phrase("Today's budget for models is used up: this is quoted from the sources.")

GRACE = 10.0
"""Seconds beyond the deadline after which a run that did not keep it is ended."""


Show = Callable[[Progress], Awaitable[None]]
"""Shows a step of progress to the asker; a failure of it never harms the answer."""


class Answering:
    """Answers questions. `today` gives the date that questions like "last month" are counted from.

    `watches` are told of every run that has ended. `frugal` takes the place of `services` where the `budget` of a
    team is used up. `attached`: the files that came with questions.
    """

    def __init__(
        self,
        *,
        services: Services,
        policy: Policy,
        memory: Memory,
        recorder: Recorder,
        today: Callable[[], date] = date.today,
        watches: Sequence[Watch] = (),
        frugal: Services | None = None,
        budget: Budget | None = None,
        attached: Attached | None = None,
    ) -> None:
        self._services = services
        self._policy = policy
        self._memory = memory
        self._recorder = recorder
        self._today = today
        self._watches = (_write_line, *watches)
        self._frugal = frugal
        self._budget = budget
        self._attached = attached
        self._graph = build(memory.saver)
        self._one_off = build(None)

    async def answer(self, question: Question, show: Show) -> Answered:
        """Answers the question and remembers the turn.

        `show` gets the progress. Raises QuestionError, AnswerFailedError, or CancelledError where the run was
        cancelled; the conversation then remembers what it did before, and the trace says what happened.
        """
        text = check(question.text)
        async with self._hold(question):
            trace = await self._open(question, text)
            with bound_contextvars(trace=trace.id):
                return await self._answer(question, text, trace, show)

    @property
    def has_web(self) -> bool:
        """A web search is set up."""
        return self._services.web.available

    async def forget(self, conversation: str) -> Forgotten:
        """Erases what a conversation remembers, what its traces say, and the files that came with it.

        Raises TraceError or LibraryError.
        """
        return await forget(self._memory, self._recorder, conversation, attached=self._attached)

    def hold(self, conversation: str) -> AbstractAsyncContextManager[None]:
        """One thing at a time in a conversation: it is not forgotten, nor answered in, meanwhile."""
        return self._memory.hold(clean(conversation))

    def _hold(self, question: Question) -> AbstractAsyncContextManager[None]:
        return nullcontext() if question.history is not None else self.hold(question.conversation)

    async def _open(self, question: Question, text: str) -> OpenTrace:
        opening = Opening(
            id=secrets.token_hex(8),
            team=question.team,
            channel=question.channel,
            conversation=question.conversation,
            asker=question.asker,
            permalink=question.permalink,
            question=text,
            spaces=question.spaces,
            heard=question.heard,
            rerun_of=question.rerun_of,
        )
        try:
            return await self._recorder.open(opening)
        except TraceError as error:
            raise failure(error) from error

    async def _answer(self, question: Question, text: str, trace: OpenTrace, show: Show) -> Answered:
        try:
            async with asyncio.timeout(self._policy.deadline + GRACE):
                answer = await self._run(question, text, trace.journal, show)
        except asyncio.CancelledError:
            await _to_the_end(self._finish(question, trace, RunState.STOPPED))
            raise
        except Exception as error:
            log.exception("question_failed")
            await _to_the_end(self._finish(question, trace, RunState.FAILED, f"{type(error).__name__}: {error}"))
            raise failure(error, trace.id) from error
        await _to_the_end(self._finish(question, trace, RunState.ANSWERED))
        return _answered(text, answer, trace)

    async def _run(self, question: Question, text: str, journal: Journal, show: Show) -> Answer:
        frugal = await self._is_to_save(question)
        try:
            await self._stream(question, text, journal, show, frugal=frugal)
        except (sqlite3.Error, psycopg.Error) as error:
            if journal.answer is None:
                raise
            # The turn is stored when the run ends: the answer is there, whole, and the asker is waiting for it.
            log.warning("turn_not_remembered", reason=str(error))
            journal.note(Fault(where="memory", kind=type(error).__name__, message=str(error)))
            return _with_notice(journal.answer, NOT_REMEMBERED())
        if journal.answer is None:
            raise RuntimeError("The graph ended without an answer.")
        return _with_notice(journal.answer, BUDGET_USED_UP()) if frugal else journal.answer

    async def _is_to_save(self, question: Question) -> bool:
        """Is the budget of the team used up, and is there something cheaper?"""
        return bool(self._budget and self._frugal and await self._budget.spent(question.team) >= 1)

    async def _stream(self, question: Question, text: str, journal: Journal, show: Show, *, frugal: bool) -> None:
        graph = self._graph if question.history is None else self._one_off
        events = graph.astream(
            _ask(question, text),
            {"configurable": {"thread_id": clean(question.conversation)}},
            context=self._context(self._services_for(question, frugal=frugal)),
            stream_mode=["custom", "updates"],
            durability="exit" if question.history is None else None,
        )
        stream = cast("AsyncGenerator[tuple[str, Any], None]", events)
        shown = _Shown(show)
        async with aclosing(stream):
            async for mode, event in stream:
                if mode == "custom":
                    await shown.show(_with_verdict(event, journal))
                else:
                    for node, update in event.items():
                        journal.write(node, update)

    def _services_for(self, question: Question, *, frugal: bool) -> Services:
        """What documents say as a whole is told from how they begin: nothing in them is weighed."""
        services = self._frugal if frugal and self._frugal else self._services
        if not (question.gist and self._attached):
            return services
        beginnings = Beginnings(engine=self._attached.engine)
        return replace(services, library=beginnings, evaluator=WholeEvaluator(), spare_evaluator=None)

    def _context(self, services: Services) -> Context:
        return Context(
            services=services,
            policy=self._policy,
            today=self._today(),
            ends_at=asyncio.get_running_loop().time() + self._policy.deadline,
        )

    async def _finish(self, question: Question, trace: OpenTrace, state: RunState, error: str = "") -> None:
        """Closes the trace and prunes the memory. The answer is worth more than either: failures are logged."""
        self._tell(question, trace, state)
        tasks = [trace.close(state, error)]
        if question.history is None:
            tasks.append(self._memory.prune(clean(question.conversation)))
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                log.error("run_not_finished", exc_info=result)

    def _tell(self, question: Question, trace: OpenTrace, state: RunState) -> None:
        run = Finished(
            trace=trace.id,
            team=question.team,
            channel=question.channel,
            state=state,
            started_at=time.time() - trace.milliseconds / 1000,
            milliseconds=trace.milliseconds,
            journal=trace.journal,
            rerun=bool(question.rerun_of),
        )
        for watch in self._watches:
            try:
                watch(run)
            except Exception:
                log.exception("watch_failed")


class _Shown:
    """Shows progress until that fails once."""

    def __init__(self, show: Show) -> None:
        self._show: Show | None = show

    async def show(self, progress: Progress) -> None:
        if self._show is None:
            return
        try:
            await self._show(progress)
        except Exception:
            log.exception("progress_not_shown")
            self._show = None


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Runs the work to its end, though the task that waits for it is cancelled."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


def _ask(question: Question, text: str) -> State:
    ask: State = {
        "question": text,
        "spaces": question.spaces,
        "elsewhere": question.elsewhere,
        "chatter": tuple(clean(line) for line in question.chatter),
        "web_allowed": question.web_allowed,
        "files_alone": question.files_alone,
        "web_wanted": question.web_wanted,
        "retakes": clean(question.retakes).strip(),
    }
    if question.history is not None:
        return {**ask, "turns": clean_all(question.history), "summary": ""}
    return ask


def _with_verdict(progress: Progress, journal: Journal) -> Progress:
    """What follows the verdict tells it: whoever waits sees it as soon as it is there."""
    verdict = journal.state.get("verdict")
    if verdict and isinstance(progress, Stage) and not progress.detail:
        return replace(progress, detail=verdict.value)
    return progress


def _with_notice(answer: Answer, notice: str) -> Answer:
    return replace(answer, notice=" ".join(filter(None, (answer.notice, notice))))


def _answered(text: str, answer: Answer, trace: OpenTrace) -> Answered:
    state = trace.journal.state
    passages, scores = state.get("passages", ()), state.get("scores", ())
    kept = {passage.id for passage in state.get("good", ())}
    return Answered(
        question=text,
        answer=answer,
        trace_id=trace.id,
        standalone=state.get("standalone", text),
        web_query=state.get("web_query"),
        passages=tuple(
            JudgedPassage(passage=passage, score=score, kept=passage.id in kept)
            for passage, score in zip(passages, scores, strict=False)
        ),
        strips=state.get("strips", ()),
        calls=trace.journal.calls,
        faults=trace.journal.faults,
        timings=trace.journal.timings,
    )


def _write_line(run: Finished) -> None:
    """The one line of a question; never what was asked or answered."""
    journal = run.journal
    log.info(
        "question",
        state=run.state.value,
        team=run.team,
        channel=run.channel,
        verdict=run.verdict or None,
        abstained=journal.answer.abstained if journal.answer else None,
        milliseconds=round(run.milliseconds),
        calls=len(journal.calls),
        tokens=sum(call.prompt_tokens + call.completion_tokens for call in journal.calls),
        faults=[f"{fault.where}:{fault.kind}" for fault in journal.faults],
    )
