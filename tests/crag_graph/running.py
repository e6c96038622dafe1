"""One run of the graph over scripted services, with what it streamed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.types import RetryPolicy

from crag_graph.context import Context, Policy
from crag_graph.domain import Answer, Passage, Progress, Stage, TextDelta, TextRestart, Turn
from crag_graph.graph import RETRY, Graph, build
from crag_graph.services import Evaluator, Services, Writer
from crag_graph.state import State
from tests.fakes.services import ScriptedEvaluator, ScriptedLibrary, ScriptedWeb, ScriptedWriter

TODAY = date(2026, 7, 14)
QUICK: RetryPolicy = RETRY._replace(initial_interval=0.01)


@dataclass(kw_only=True)
class Cast:
    """The services of a test: one space, `home`, and `hidden` for what may not be seen there."""

    passages: Sequence[Passage] = ()
    hidden: Sequence[Passage] = ()
    evaluator: ScriptedEvaluator = field(default_factory=ScriptedEvaluator)
    writer: ScriptedWriter = field(default_factory=ScriptedWriter)
    web: ScriptedWeb = field(default_factory=ScriptedWeb)
    spare_evaluator: Evaluator | None = None
    spare_writer: Writer | None = None
    library: ScriptedLibrary = field(init=False)

    def __post_init__(self) -> None:
        self.library = ScriptedLibrary(spaces={"home": self.passages, "hidden": self.hidden})

    @property
    def services(self) -> Services:
        return Services(
            library=self.library,
            evaluator=self.evaluator,
            writer=self.writer,
            web=self.web,
            spare_evaluator=self.spare_evaluator,
            spare_writer=self.spare_writer,
        )


@dataclass(frozen=True, kw_only=True)
class Run:
    """The state at the end, and the progress on the way."""

    state: State
    progress: tuple[Progress, ...]
    seconds: float

    @property
    def answer(self) -> Answer:
        return self.state["answer"]

    @property
    def stages(self) -> list[str]:
        return [event.node for event in self.progress if isinstance(event, Stage)]

    @property
    def shown(self) -> str:
        """The answer as somebody saw it grow."""
        text = ""
        for event in self.progress:
            text = "" if isinstance(event, TextRestart) else text + (event.text if isinstance(event, TextDelta) else "")
        return text

    @property
    def faults(self) -> list[tuple[str, str]]:
        return [(fault.where, fault.kind) for fault in self.state["faults"]]

    @property
    def roles(self) -> list[str]:
        return [call.role for call in self.state["calls"]]


async def ask(
    question: str,
    cast: Cast,
    *,
    graph: Graph | None = None,
    thread: str = "",
    policy: Policy | None = None,
    elsewhere: tuple[str, ...] = (),
    chatter: tuple[str, ...] = (),
    web_allowed: bool = True,
    web_wanted: bool | None = None,
    history: Sequence[Turn] = (),
    durability: Literal["sync", "async", "exit"] = "exit",
) -> Run:
    policy = policy or Policy()
    started = asyncio.get_running_loop().time()
    context = Context(services=cast.services, policy=policy, today=TODAY, ends_at=started + policy.deadline)
    start: State = {
        "question": question,
        "spaces": ("home",),
        "elsewhere": elsewhere,
        "chatter": chatter,
        "web_allowed": web_allowed,
        "web_wanted": web_wanted,
    }
    if history:
        start["turns"] = list(history)
    config: RunnableConfig = {"configurable": {"thread_id": thread}} if thread else {}
    progress: list[Progress] = []
    state: State = {}
    mode: str
    event: Any
    async for mode, event in (graph or build(retry=QUICK)).astream(
        start,
        config,
        context=context,
        stream_mode=["custom", "values"],
        durability=durability if thread else None,
    ):
        if mode == "custom":
            progress.append(event)
        else:
            state = event
    return Run(state=state, progress=tuple(progress), seconds=asyncio.get_running_loop().time() - started)


def turn(question: str, answer: str) -> Turn:
    return Turn(question=question, standalone=question, answer=answer, sources=[])
