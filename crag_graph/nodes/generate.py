"""Writes the answer from the kept strips, and settles its marks while it streams."""

from langgraph.runtime import Runtime

from crag_graph.citations import cite, numbered, supporting
from crag_graph.context import Context
from crag_graph.domain import Abstention, Answer, Strip, TextDelta, TextRestart, Verdict
from crag_graph.marks import Marks
from crag_graph.memory import conversation, remembered
from crag_graph.phrases import Phrase
from crag_graph.services import Brief, Draft, ModelReplyError, Source
from crag_graph.state import State
from crag_graph.strips import recombine

MODEL_AWAY = Phrase("The language model gave no answer, so this one is quoted from the sources.")
WEB_OFF = Phrase("The library answers this only in part, and web search is off here: the rest is not covered.")
WEB_NOT_ASKED = Phrase("The library answers this only in part, and the web was not asked: the rest is not covered.")
WEB_UNREACHABLE = Phrase(
    "The library answers this only in part, and the web could not be reached: the rest is not covered."
)
FILES_IN_PART = Phrase("The files answer this only in part, and I looked nowhere else: the rest is not covered.")
WEB_OFF_TOO = Phrase("Web search is off here: this answer is from the library alone.")
WEB_UNREACHABLE_TOO = Phrase("The web could not be reached: this answer is from the library alone.")
PART_MISSING = Phrase("Nothing that I found answers “{part}”.")
UNCITED = Phrase("This answer names no source, and none could be found for it: check it before you rely on it.")


async def generate(state: State, runtime: Runtime[Context]) -> State:
    sources = numbered(recombine([judged.strip for judged in state["strips"] if judged.kept]))
    marks = Marks(sources)

    def show(text: str) -> None:
        if text:
            runtime.stream_writer(TextDelta(text=text))

    try:
        draft = await runtime.context.services.writer.generate(
            _brief(state, runtime.context, sources), lambda delta: show(marks.feed(delta))
        )
        if not draft.unanswered:
            show(_completed(marks, draft, sources))
    except BaseException:
        # Another attempt, or the spare writer, starts over: what was shown of this one does not count.
        if marks.text:
            runtime.stream_writer(TextRestart())
        raise
    if draft.unanswered:
        return {"calls": draft.calls}
    answer = Answer(
        text=marks.text.strip(),
        verdict=state["verdict"],
        reason=state["reason"],
        citations=cite(marks, sources, question=state["standalone"]),
        quoted=draft.quoted,
        notice=_notice(state, draft, cited=bool(marks.cited)),
    )
    return {"answer": answer, "calls": draft.calls, "turns": remembered(state, answer)}


def _brief(state: State, context: Context, sources: dict[int, tuple[Strip, ...]]) -> Brief:
    return Brief(
        question=state["question"],
        standalone=state["standalone"],
        verdict=state["verdict"],
        sources=tuple(
            Source(number=number, title=strips[0].passage.title, strips=strips) for number, strips in sources.items()
        ),
        conversation=conversation(state),
        today=context.today,
        parts=tuple(part.text for part in state.get("parts", ())),
        judged=tuple(judged for judged in state["strips"] if judged.kept),
    )


def _completed(marks: Marks, draft: Draft, sources: dict[int, tuple[Strip, ...]]) -> str:
    """What is left to show; a draft without any mark gets those of the sources that support it."""
    rest = marks.finish() or ("" if marks.text else marks.feed(draft.text) + marks.finish())
    if not marks.text.strip():
        raise ModelReplyError("The answer is empty.", calls=draft.calls)
    if not marks.cited and (support := supporting(marks.text, sources)):
        rest += marks.append(support)
    return rest


def _notice(state: State, draft: Draft, *, cited: bool) -> str:
    failed = any(fault.where == "generate" for fault in state.get("faults", ()))
    notices = (
        MODEL_AWAY() if draft.quoted and failed else "",
        *(PART_MISSING(part=part.strip(" ?")) for part in draft.missing),
        _without_web(state),
        "" if cited else UNCITED(),
    )
    return " ".join(filter(None, notices))


def _without_web(state: State) -> str:
    """What the asker must know where the web was needed, or wanted beside an answer that is whole."""
    enough = state["verdict"] is Verdict.CORRECT
    match state.get("web_missing"):
        case Abstention.WEB_OFF | Abstention.WEB_NOT_ASKED if state.get("files_alone"):
            return "" if enough else FILES_IN_PART()
        case Abstention.WEB_OFF:
            return WEB_OFF_TOO() if enough else WEB_OFF()
        case Abstention.WEB_UNREACHABLE:
            return WEB_UNREACHABLE_TOO() if enough else WEB_UNREACHABLE()
        case Abstention.WEB_NOT_ASKED:
            return WEB_NOT_ASKED()
        case _:
            return ""
