"""The numbers that Prometheus reads: what this process has done, and how the queue stands."""

import math
from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from bot.jobs import Standing
from bot.prices import Price, cost
from bot.telemetry.finished import Finished

REGISTRY = CollectorRegistry()
"""One process, one registry: counting is the one thing that everybody may do from everywhere, as with a log."""

SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

QUESTIONS = Counter(
    "crag_questions", "Questions worked on, by verdict and outcome.", ["verdict", "outcome"], registry=REGISTRY
)
QUESTION_SECONDS = Histogram(
    "crag_question_seconds", "Time from a question's start to its end.", buckets=SECONDS, registry=REGISTRY
)
STEP_SECONDS = Histogram(
    "crag_step_seconds", "Time of each step of the graph.", ["step"], buckets=SECONDS, registry=REGISTRY
)
MODEL_CALLS = Counter("crag_model_calls", "Calls of a chat model, by step.", ["model", "step"], registry=REGISTRY)
MODEL_TOKENS = Counter(
    "crag_model_tokens",
    "Tokens sent to (prompt) and written by (completion) a chat model.",
    ["model", "kind"],
    registry=REGISTRY,
)
MODEL_DOLLARS = Counter(
    "crag_model_cost_dollars", "What calls cost by the table of prices; 0 without one.", ["model"], registry=REGISTRY
)
FAULTS = Counter(
    "crag_faults", "What failed and was worked around, by place and kind.", ["where", "kind"], registry=REGISTRY
)
SLACK_ERRORS = Counter("crag_slack_errors", "Calls that Slack did not answer as asked.", ["code"], registry=REGISTRY)
JOBS = Gauge("crag_jobs", "Jobs in the queue, by state.", ["queue", "state"], registry=REGISTRY)
OLDEST_JOB = Gauge("crag_oldest_job_seconds", "Since when the oldest due job waits.", ["queue"], registry=REGISTRY)
STALLED_JOBS = Gauge("crag_stalled_jobs", "Jobs whose worker has died and that nobody has taken up.", registry=REGISTRY)


class Meter:
    """Counts finished runs; `prices` by chat model."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = prices

    def __call__(self, run: Finished) -> None:
        if not run.rerun:
            QUESTIONS.labels(run.verdict, run.outcome).inc()
            QUESTION_SECONDS.observe(run.milliseconds / 1000)
        for step in run.journal.steps:
            STEP_SECONDS.labels(step.node).observe(step.milliseconds / 1000)
        for fault in run.journal.faults:
            FAULTS.labels(fault.where, fault.kind).inc()
        for call in run.journal.calls:
            MODEL_CALLS.labels(call.model, call.role).inc()
            MODEL_TOKENS.labels(call.model, "prompt").inc(call.prompt_tokens)
            MODEL_TOKENS.labels(call.model, "completion").inc(call.completion_tokens)
            spent = cost(self._prices, call.model, call.prompt_tokens, call.completion_tokens)
            MODEL_DOLLARS.labels(call.model).inc(spent or 0.0)


def exposition(queue: Standing | None) -> bytes:
    """All numbers in Prometheus's text format; without those of the queue where it does not answer."""
    for gauge in (JOBS, OLDEST_JOB):
        gauge.clear()
    STALLED_JOBS.set(queue.stalled if queue else math.nan)
    for jobs in queue.jobs if queue else ():
        JOBS.labels(jobs.queue, jobs.state).set(jobs.count)
        if jobs.state == "todo":
            OLDEST_JOB.labels(jobs.queue).set(jobs.oldest)
    return generate_latest(REGISTRY)
