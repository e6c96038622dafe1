"""What Prometheus reads, by its own parser."""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.answering import AnswerFailedError
from bot.database.engine import JOBS_SCHEMA, with_schema
from bot.jobs import Kind, Queue, open_queue
from bot.memory import Memory
from bot.prices import Price
from bot.server import build_metrics
from bot.slack.web import SlackRefusedError, heard, open_web
from bot.telemetry.metrics import Meter
from crag_graph.services import LibraryError, Services
from tests.bot.conftest import compose, question, quietly
from tests.fakes.services import ScriptedLibrary, ScriptedWeb, trouble
from tests.slack_workspace import SlackWorkspace

Numbers = Mapping[tuple[str, frozenset[tuple[str, str]]], float]


async def read(queue: Queue) -> Numbers:
    transport = httpx.ASGITransport(app=build_metrics(queue))
    async with httpx.AsyncClient(transport=transport, base_url="http://bot") as client:
        answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(answer.text)
    return {(one.name, frozenset(one.labels.items())): one.value for family in families for one in family.samples}


class Change:
    """What has been added to each number since the start: the numbers of a process only grow."""

    def __init__(self, before: Numbers, after: Numbers) -> None:
        self._before, self._after = before, after

    def of(self, name: str, **labels: str) -> float:
        key = (name, frozenset(labels.items()))
        return self._after.get(key, 0.0) - self._before.get(key, 0.0)


@pytest.fixture
async def queue(database_url: str) -> AsyncIterator[Queue]:
    async with open_queue(with_schema(database_url, JOBS_SCHEMA)) as opened:
        yield opened


async def test_a_question_is_counted_with_its_steps_calls_tokens_and_cost(
    queue: Queue, judged: Services, memory: Memory, engine: AsyncEngine
) -> None:
    meter = Meter({"judge": Price(prompt=1.0, completion=10.0)})
    before = await read(queue)
    await compose(judged, memory, engine, watches=[meter]).answer(question(), quietly)
    change = Change(before, await read(queue))
    assert change.of("crag_questions_total", verdict="correct", outcome="answered") == 1
    assert change.of("crag_question_seconds_count") == 1
    assert change.of("crag_step_seconds_count", step="retrieve") == 1
    judging = change.of("crag_model_calls_total", model="judge-1", step="evaluate")
    assert judging >= 1
    assert change.of("crag_model_tokens_total", model="judge-1", kind="prompt") == 1_000 * judging
    assert change.of("crag_model_cost_dollars_total", model="judge-1") == pytest.approx(0.003 * judging)


async def test_what_was_not_answered_and_what_failed_is_told_apart(
    queue: Queue, judged: Services, memory: Memory, engine: AsyncEngine
) -> None:
    empty = replace(judged, library=ScriptedLibrary(spaces={}), web=ScriptedWeb(available=False))
    broken = replace(judged, library=ScriptedLibrary(spaces={}, trouble=trouble(search=[LibraryError("away")] * 9)))
    before = await read(queue)
    await compose(empty, memory, engine, watches=[Meter({})]).answer(question(), quietly)
    with pytest.raises(AnswerFailedError):
        await compose(broken, memory, engine, watches=[Meter({})]).answer(question(), quietly)
    change = Change(before, await read(queue))
    assert change.of("crag_questions_total", verdict="incorrect", outcome="abstained") == 1
    assert change.of("crag_questions_total", verdict="", outcome="failed") == 1


async def test_what_a_reviewer_tries_again_is_nobodys_question(
    queue: Queue, judged: Services, memory: Memory, engine: AsyncEngine
) -> None:
    answering = compose(judged, memory, engine, watches=[Meter({})])
    first = await answering.answer(question(), quietly)
    before = await read(queue)
    await answering.answer(replace(question(), history=(), rerun_of=first.trace_id), quietly)
    change = Change(before, await read(queue))
    assert change.of("crag_questions_total", verdict="correct", outcome="answered") == 0
    assert change.of("crag_model_calls_total", model="judge-1", step="evaluate") >= 1


async def test_the_queue_is_shown_with_its_depth_and_the_age_of_its_oldest_job(queue: Queue) -> None:
    await queue.put(Kind.ANSWER, "T1:C1:1")
    await queue.put(Kind.ANSWER, "T1:C1:2")
    await asyncio.sleep(0.05)
    numbers = await read(queue)
    assert numbers["crag_jobs", frozenset({("queue", "answers"), ("state", "todo")})] == 2
    assert 0.05 <= numbers["crag_oldest_job_seconds", frozenset({("queue", "answers")})] < 60
    assert numbers["crag_stalled_jobs", frozenset()] == 0


async def test_without_the_database_the_numbers_of_the_process_are_still_told(database_url: str) -> None:
    async with open_queue(with_schema(database_url, JOBS_SCHEMA)) as closed:
        pass
    numbers = await read(closed)
    assert math.isnan(numbers["crag_stalled_jobs", frozenset()])
    assert not [name for name, _ in numbers if name == "crag_jobs"]


async def test_what_slack_refuses_is_counted_by_its_own_word(queue: Queue) -> None:
    before = await read(queue)
    async with SlackWorkspace() as slack, open_web(slack.api_url, slack.bot_token) as web:
        with pytest.raises(SlackRefusedError):
            await heard(web.hasty.chat_postMessage(channel="C0NOWHERE1", text="hello"))
    assert Change(before, await read(queue)).of("crag_slack_errors_total", code="channel_not_found") == 1
