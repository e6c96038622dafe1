"""The graph: nodes and edges, and for each node its time, its retries and what takes over when it fails."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, RetryPolicy

from crag_graph.context import Context
from crag_graph.domain import Fault, Stage
from crag_graph.nodes.abstain import abstain
from crag_graph.nodes.contextualize import contextualize
from crag_graph.nodes.evaluate import evaluate
from crag_graph.nodes.generate import generate
from crag_graph.nodes.refine import refine
from crag_graph.nodes.retrieve import retrieve
from crag_graph.nodes.rewrite import rewrite
from crag_graph.nodes.search_web import go_without_web, search_web
from crag_graph.routing import after_evaluate, after_generate, after_refine
from crag_graph.services import OverdueError, ServiceError, Services, TimeUpError
from crag_graph.state import State

Node = Callable[[State, Runtime[Context]], Awaitable[State]]


class Attempt(Protocol):
    """A node as LangGraph calls it: by the names of its parameters."""

    async def __call__(self, state: State, runtime: Runtime[Context]) -> State: ...


Graph = CompiledStateGraph[State, Context, State, State]


def _spare_writer(services: Services) -> Services | None:
    return replace(services, writer=services.spare_writer) if services.spare_writer else None


def _spare_evaluator(services: Services) -> Services | None:
    return replace(services, evaluator=services.spare_evaluator) if services.spare_evaluator else None


@dataclass(frozen=True, kw_only=True)
class Step:
    """A node, the seconds that one attempt may take, and where the graph goes then."""

    node: Node
    seconds: float
    then: str | Callable[[State], str]
    spare: Callable[[Services], Services | None] | None = None
    """The services with which the node runs once more after the last attempt; without, its failure is raised."""
    instead: Node | None = None
    """What runs after the last attempt where no service can take over."""

    @property
    def name(self) -> str:
        return self.node.__name__

    def replaceable(self, services: Services) -> bool:
        return self.instead is not None or (self.spare is not None and self.spare(services) is not None)


STEPS = (
    Step(node=contextualize, seconds=15, spare=_spare_writer, then="retrieve"),
    Step(node=retrieve, seconds=10, then="evaluate"),
    Step(node=evaluate, seconds=20, spare=_spare_evaluator, then=after_evaluate),
    Step(node=rewrite, seconds=15, spare=_spare_writer, then="search_web"),
    Step(node=search_web, seconds=15, instead=go_without_web, then="refine"),
    Step(node=refine, seconds=20, spare=_spare_evaluator, then=after_refine),
    Step(node=generate, seconds=45, spare=_spare_writer, then=after_generate),
    Step(node=abstain, seconds=10, instead=abstain, then=END),  # whatever the time, somebody waits for a word
)

RESERVE = 0.1
"""Share of the deadline that is kept for what takes over when a service used up the rest."""

SPARE_SECONDS = 1.0
"""A spare computes on this machine: it gets this long even where the deadline is over."""


def _transient(error: Exception) -> bool:
    return isinstance(error, ServiceError) and error.transient


RETRY = RetryPolicy(
    initial_interval=0.5, backoff_factor=2.0, max_interval=4.0, max_attempts=3, jitter=False, retry_on=_transient
)
"""Three attempts, 0.5 s and 1 s apart. (LangGraph's jitter would add up to a whole second to each pause.)"""


def build(checkpointer: BaseCheckpointSaver[Any] | None = None, *, retry: RetryPolicy = RETRY) -> Graph:
    """The compiled graph.

    Run it with `durability="exit"` and a `Context` of its own for each run. The answer is in the channel
    `answer`; progress (`Stage`, `TextDelta`, `TextRestart`) comes in the custom stream.
    """
    graph = StateGraph(State, context_schema=Context)
    for step in STEPS:
        handler = _handler(step) if step.spare or step.instead else None
        graph.add_node(step.name, _attempt(step, retry), retry_policy=retry, error_handler=handler)
        if callable(step.then):
            graph.add_conditional_edges(step.name, step.then)
        else:
            graph.add_edge(step.name, step.then)
    graph.add_edge(START, STEPS[0].name)
    return graph.compile(checkpointer=checkpointer, name="crag")


def mermaid() -> str:
    """The graph as a Mermaid diagram, without the handlers that LangGraph draws beside it."""
    drawing = build().get_graph()
    for node in [*drawing.nodes.values()]:
        if node.name.startswith("__error_handler__"):
            drawing.remove_node(node)
    return drawing.draw_mermaid()


def _attempt(step: Step, retry: RetryPolicy) -> Attempt:
    """One attempt at a node: within its time and that of the question; a failure is noted before it is raised."""

    async def attempt(state: State, runtime: Runtime[Context]) -> State:
        context = runtime.context
        number = runtime.execution_info.node_attempt if runtime.execution_info else 1
        if number == 1:
            runtime.stream_writer(_stage(step, state))
        end = _end(step, context)
        try:
            update = await _in_time(step.node, state, runtime, seconds=step.seconds, end=end)
        except ServiceError as error:
            context.setbacks.append(error)
            if error.transient and _now() + _pause(retry, number) >= end:
                raise TimeUpError(str(error)) from error
            raise
        return {**update, **_noted(step, state, update, context)}

    return attempt


def _handler(step: Step) -> Any:  # LangGraph's types know no handler that takes the error
    """After the last attempt: the node once more with the spare, or what there is instead; then on as always."""

    async def handler(state: State, error: NodeError, runtime: Runtime[Context]) -> Command[str]:
        context = runtime.context
        if not isinstance(error.error, ServiceError) or not step.replaceable(context.services):
            raise error.error
        services = (step.spare(context.services) if step.spare else None) or context.services
        spared = runtime.override(context=replace(context, services=services))
        state = {**state, **_noted(step, state, {}, context)}
        end = max(context.ends_at, _now() + SPARE_SECONDS)
        update = await _in_time(step.instead or step.node, state, spared, seconds=step.seconds, end=end)
        update = {**update, **_noted(step, state, update, context)}
        goto = step.then({**state, **update}) if callable(step.then) else step.then
        return Command(update=update, goto=goto)

    return handler


async def _in_time(node: Node, state: State, runtime: Runtime[Context], *, seconds: float, end: float) -> State:
    """LangGraph's own node timeout is fixed when the graph is built; a question's deadline is not."""
    overdue = _now() + seconds
    if _now() >= end:
        raise TimeUpError
    try:
        async with asyncio.timeout_at(min(overdue, end)):
            return await node(state, runtime)
    except TimeoutError as error:
        if overdue < end:
            raise OverdueError(f"({seconds:g} s)") from error
        raise TimeUpError from error


def _noted(step: Step, state: State, update: State, context: Context) -> State:
    """The sums of faults and calls: those so far, those of failed attempts, those of the update."""
    setbacks = tuple(context.setbacks)
    context.setbacks.clear()
    faults = (Fault(where=step.name, kind=type(error).__name__, message=str(error)) for error in setbacks)
    calls = (call for error in setbacks for call in error.calls)
    return {
        "faults": (*state.get("faults", ()), *faults, *update.get("faults", ())),
        "calls": (*state.get("calls", ()), *calls, *update.get("calls", ())),
    }


def _stage(step: Step, state: State) -> Stage:
    details = {"retrieve": state.get("standalone", ""), "search_web": state.get("web_query", "")}
    return Stage(node=step.name, detail=details.get(step.name, ""))


def _end(step: Step, context: Context) -> float:
    """When an attempt must be over: with what takes over in reserve, a little before the deadline."""
    reserve = RESERVE * context.policy.deadline if step.replaceable(context.services) else 0.0
    return context.ends_at - reserve


def _pause(retry: RetryPolicy, attempt: int) -> float:
    return min(retry.max_interval, retry.initial_interval * retry.backoff_factor ** (attempt - 1))


def _now() -> float:
    return asyncio.get_running_loop().time()
