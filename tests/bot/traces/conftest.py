from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.recorder import Opening, OpenTrace, Recorder, RunState
from crag_graph.domain import (
    Abstention,
    Answer,
    Citation,
    Fault,
    JudgedStrip,
    Kind,
    ModelCall,
    Passage,
    Score,
    Strip,
    Verdict,
)

Record = Callable[..., Awaitable[OpenTrace]]

PASSAGE = Passage(
    id="p1",
    kind=Kind.INTERNAL,
    document="d1",
    source="leave.md",
    title="Leave",
    text="Parents get 16 weeks.\x00 Adoption counts the same.",
    features=b"\x00\x01",
)
CALL = ModelCall(role="generate", model="m", prompt_tokens=10, completion_tokens=5, prompt="private", reply="private")
FAULT = Fault(where="search_web", kind="WebBusyError", message="timeout")
CITATION = Citation(mark=1, kind=Kind.INTERNAL, title="Leave", source="leave.md", location="", quote="16 weeks")


def opening(run: str) -> Opening:
    return Opening(
        id=run,
        team="T1",
        channel="C1",
        conversation="T1:C1:1",
        asker="U1",
        permalink="https://slack/p1",
        question="How long is parental leave?",
    )


@pytest.fixture
def recorder(engine: AsyncEngine) -> Recorder:
    return Recorder(engine, keep_texts=False, settings="0123456789ab", version="1.0")


@pytest.fixture
def record(recorder: Recorder) -> Record:
    """Stores the trace of a run that ended as told."""

    async def record(
        run: str,
        *,
        question: str = "How long is parental leave?",
        team: str = "T1",
        channel: str = "C1",
        conversation: str = "T1:C1:1",
        asker: str = "U1",
        verdict: Verdict = Verdict.CORRECT,
        abstention: Abstention | None = None,
        faults: tuple[Fault, ...] = (),
        state: RunState | None = RunState.ANSWERED,
    ) -> OpenTrace:
        trace = await recorder.open(
            replace(opening(run), team=team, channel=channel, conversation=conversation, asker=asker, question=question)
        )
        journal = trace.journal
        journal.write("contextualize", {"standalone": question})
        journal.write("retrieve", {"passages": (PASSAGE,), "faults": faults})
        journal.write(
            "evaluate",
            {
                "scores": (Score(value=0.9, reason="says so"),),
                "verdict": verdict,
                "reason": "because",
                "good": (PASSAGE,),
            },
        )
        strip = Strip(passage=PASSAGE, start=0, end=21)
        judged = JudgedStrip(strip=strip, score=Score(value=0.8, reason="close"), kept=True)
        journal.write("refine", {"strips": (judged,)})
        answer = Answer(
            text="16 weeks [1].", verdict=verdict, reason="because", citations=(CITATION,), abstention=abstention
        )
        journal.write("generate", {"answer": answer, "calls": (CALL,), "turns": [{"question": question}]})
        if state:
            await trace.close(state)
        return trace

    return record
