"""Spans as a local collector receives them."""

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.memory import Memory
from bot.telemetry.spans import open_spans
from crag_graph.services import Services
from tests.bot.conftest import compose, question, quietly
from tests.fakes.otlp_server import OtlpServer

NODES = ["contextualize", "retrieve", "evaluate", "refine", "generate"]


async def test_a_question_is_a_span_with_its_steps_and_calls_inside(
    judged: Services, memory: Memory, engine: AsyncEngine
) -> None:
    async with OtlpServer().running() as collector, open_spans(collector.endpoint, version="1") as watch:
        answered = await compose(judged, memory, engine, watches=[watch]).answer(question(), quietly)
    whole = next(span for span in collector.spans if span.name == "question")
    steps = [span for span in collector.spans if span.parent_span_id == whole.span_id]
    assert [step.name for step in sorted(steps, key=lambda step: step.start_time_unix_nano)] == NODES
    assert answered.trace_id in {one.value.string_value for one in whole.attributes if one.key == "crag.trace"}
    call = next(span for span in collector.spans if span.name == "chat judge-1")
    assert call.parent_span_id in {step.span_id for step in steps if step.name == "evaluate"}
    assert {one.key: one.value.int_value for one in call.attributes}["gen_ai.usage.input_tokens"] == 1_000
    assert all(
        whole.start_time_unix_nano <= step.start_time_unix_nano <= step.end_time_unix_nano <= whole.end_time_unix_nano
        for step in steps
    )


async def test_nothing_that_was_asked_answered_or_prompted_leaves_with_the_spans(
    judged: Services, memory: Memory, engine: AsyncEngine
) -> None:
    asked = "How many weeks of leave does a zookeeper get?"
    async with OtlpServer().running() as collector, open_spans(collector.endpoint, version="1") as watch:
        await compose(judged, memory, engine, watches=[watch]).answer(question(asked), quietly)
    sent = b"".join(collector.bodies)
    assert sent
    assert not [word for word in (b"zookeeper", b"weeks of leave", b"private word") if word in sent]


async def test_a_collector_that_is_away_or_refuses_harms_no_answer(
    judged: Services, memory: Memory, engine: AsyncEngine
) -> None:
    async with OtlpServer(status=400).running() as collector, open_spans(collector.endpoint, version="1") as watch:
        answered = await compose(judged, memory, engine, watches=[watch]).answer(question(), quietly)
    assert "16 weeks" in answered.answer.text
