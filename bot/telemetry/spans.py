"""A span for each question, each of its steps and each model call, sent by OTLP where the standard variables ask for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, Status, StatusCode, Tracer, set_span_in_context

from bot.telemetry.finished import Finished, Watch
from bot.traces.journal import Step
from bot.traces.recorder import RunState
from crag_graph.domain import ModelCall

NANOSECONDS = 1_000_000
"""In a millisecond."""


@asynccontextmanager
async def open_spans(endpoint: str, *, version: str) -> AsyncIterator[Watch]:
    """Who draws finished runs. What is still unsent at the end is sent then.

    `endpoint`: of the collector, OTLP over HTTP. Everything else (headers, sampling, resource attributes) the SDK
    reads from its own standard variables.
    """
    resource = Resource({SERVICE_NAME: "crag", SERVICE_VERSION: version}).merge(Resource.create())
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")))
    try:
        yield Spans(provider.get_tracer("crag", version))
    finally:
        await asyncio.to_thread(provider.shutdown)


class Spans:
    """Draws a run after it has ended: its steps ran one after another, so their times are known."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def __call__(self, run: Finished) -> None:
        start = int(run.started_at * 1000 * NANOSECONDS)
        span = self._tracer.start_span("question", start_time=start, attributes=_about(run))
        if run.state is RunState.FAILED:
            span.set_status(Status(StatusCode.ERROR))
        at = start
        for step in run.journal.steps:
            at = self._draw_step(span, step, at)
        span.end(start + int(run.milliseconds * NANOSECONDS))

    def _draw_step(self, parent: Span, step: Step, start: int) -> int:
        """Returns when the step ended."""
        end = start + int(step.milliseconds * NANOSECONDS)
        span = self._tracer.start_span(step.node, context=set_span_in_context(parent), start_time=start)
        for fault in step.faults:
            span.add_event("fault", {"where": fault.where, "kind": fault.kind}, timestamp=end)
        at = start
        for call in step.calls:
            at = self._draw_call(span, call, at)
        span.end(end)
        return end

    def _draw_call(self, parent: Span, call: ModelCall, start: int) -> int:
        """By OpenTelemetry's names for generative models; without the texts."""
        end = start + int(call.milliseconds * NANOSECONDS)
        about: dict[str, str | int] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": call.model,
            "gen_ai.usage.input_tokens": call.prompt_tokens,
            "gen_ai.usage.output_tokens": call.completion_tokens,
        }
        span = self._tracer.start_span(
            f"chat {call.model}", context=set_span_in_context(parent), start_time=start, attributes=about
        )
        span.end(end)
        return end


def _about(run: Finished) -> dict[str, str | int]:
    return {
        "crag.trace": run.trace,
        "crag.team": run.team,
        "crag.verdict": run.verdict,
        "crag.outcome": run.outcome,
        "crag.faults": len(run.journal.faults),
    }
