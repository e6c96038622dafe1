"""Says that there is no answer, why, and what the asker can do."""

import asyncio
from dataclasses import dataclass

from langgraph.runtime import Runtime

from crag_graph.context import Context
from crag_graph.domain import Abstention, Answer, Fault, ModelCall, TextDelta
from crag_graph.memory import remembered
from crag_graph.phrases import Phrase
from crag_graph.services import ServiceError
from crag_graph.state import State

SECONDS_ELSEWHERE = 5.0

TEXTS = {
    Abstention.NOTHING_FOUND: Phrase(
        "I found nothing on this. Ask with other words, or add a document that covers it to the library."
    ),
    Abstention.TOO_WEAK: Phrase(
        "What I found touches on this, but nothing in it answers the question. "
        "Ask more precisely, or add a document that covers it to the library."
    ),
    Abstention.NOT_VISIBLE_HERE: Phrase(
        "A document that you may read answers this, but it cannot be used here. "
        "Ask me again where it belongs, or in a direct message."
    ),
    Abstention.WEB_UNREACHABLE: Phrase(
        "The library does not answer this, and the web could not be reached. Ask again in a few minutes."
    ),
    Abstention.WEB_OFF: Phrase(
        "The library does not answer this, and web search is off here. "
        "Add a document that covers it to the library, or have web search turned on."
    ),
    Abstention.WEB_NOT_ASKED: Phrase(
        "The library does not answer this, and the web was not asked. "
        "Have me search the web too, or add a document that covers it to the library."
    ),
}
MODEL_AWAY = Phrase("The language model gave no answer, and no sentence of the sources answers this by itself.")
NEAREST = Phrase("The nearest that I found is “{title}”.")
LONGEST_TITLE = 80

OF_FILES = {
    Abstention.WEB_UNREACHABLE: Phrase(
        "The files do not answer this, and the web could not be reached. Ask again in a few minutes."
    ),
    Abstention.WEB_OFF: Phrase(
        "The files do not answer this. Ask more precisely, or ask again without the files, and I look in the library."
    ),
    Abstention.WEB_NOT_ASKED: Phrase(
        "The files do not answer this, and I looked nowhere else. "
        "Ask more precisely, have me search the web too, or ask again without the files, and I look in the library."
    ),
}
"""Where the question was asked of files that came with it."""


async def abstain(state: State, runtime: Runtime[Context]) -> State:
    elsewhere = await _elsewhere(state, runtime.context)
    abstention = Abstention.NOT_VISIBLE_HERE if elsewhere.answered else _missing(state)
    text = " ".join(filter(None, (_text(abstention, state), _nearest(state, abstention))))
    answer = Answer(
        text=text,
        verdict=state["verdict"],
        reason=state["reason"],
        abstention=abstention,
        notice=MODEL_AWAY() if any(fault.where == "generate" for fault in state.get("faults", ())) else "",
    )
    runtime.stream_writer(TextDelta(text=answer.text))
    return {
        "answer": answer,
        "turns": remembered(state, answer),
        "calls": elsewhere.calls,
        "faults": elsewhere.faults,
    }


def _text(abstention: Abstention, state: State) -> str:
    of_files = OF_FILES if state.get("files_alone") else TEXTS
    return of_files.get(abstention, TEXTS[abstention])()


@dataclass(frozen=True, kw_only=True)
class _Elsewhere:
    """Would the question have been answered out of spaces that the asker may see, but this place may not?"""

    answered: bool = False
    calls: tuple[ModelCall, ...] = ()
    faults: tuple[Fault, ...] = ()


async def _elsewhere(state: State, context: Context) -> _Elsewhere:
    """A courtesy: it may fail, and nobody waits long for it."""
    if not state.get("elsewhere"):
        return _Elsewhere()
    try:
        async with asyncio.timeout_at(min(context.ends_at, asyncio.get_running_loop().time() + SECONDS_ELSEWHERE)):
            return await _look_elsewhere(state, context)
    except (ServiceError, TimeoutError) as error:
        return _Elsewhere(faults=(Fault(where="abstain", kind=type(error).__name__, message=str(error)),))


async def _look_elsewhere(state: State, context: Context) -> _Elsewhere:
    services, policy = context.services, context.policy
    found = await services.library.search(state["standalone"], spaces=state["elsewhere"], limit=policy.top_k)
    if not found.passages:
        return _Elsewhere()
    evaluator = services.spare_evaluator or services.evaluator
    evaluation = await evaluator.evaluate(state["standalone"], found.passages)
    answered = any(score.value >= policy.thresholds.upper for score in evaluation.scores)
    return _Elsewhere(answered=answered, calls=evaluation.calls)


def _missing(state: State) -> Abstention:
    if web_missing := state.get("web_missing"):
        return web_missing
    found = state["passages"] or state.get("pages")
    return Abstention.TOO_WEAK if found else Abstention.NOTHING_FOUND


def _nearest(state: State, abstention: Abstention) -> str:
    """What was kept, though it does not answer: the asker may want to look there. Nothing where none was kept."""
    kept = [judged for judged in state.get("strips", ()) if judged.kept]
    if not kept or abstention is Abstention.NOT_VISIBLE_HERE:
        return ""
    nearest = max(kept, key=lambda judged: judged.score.value).strip.passage
    title = " ".join(nearest.title.split())[:LONGEST_TITLE].strip()
    return NEAREST(title=title) if title else ""
