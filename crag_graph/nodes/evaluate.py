"""Scores the passages, settles the verdict, and lets only good passages go further."""

from langgraph.runtime import Runtime

from crag_graph.context import Context, Policy
from crag_graph.domain import Abstention, Part, Score, Verdict
from crag_graph.services import Evaluation, ModelReplyError
from crag_graph.state import State
from crag_graph.verdict import Thresholds, judge


async def evaluate(state: State, runtime: Runtime[Context]) -> State:
    context, passages = runtime.context, state["passages"]
    evaluation = Evaluation(scores=(), parts=())
    if passages:
        evaluation = await context.services.evaluator.evaluate(state["standalone"], passages)
        _check(evaluation, len(passages))
    parts = _judged_parts(evaluation, state["standalone"], context.policy)
    thresholds = context.policy.thresholds
    verdict = judge([[score.value for score in part.scores] for part in parts], thresholds)
    good = () if verdict is Verdict.INCORRECT else passages
    return {
        "scores": evaluation.scores,
        "parts": parts,
        "verdict": verdict,
        "reason": _reason(parts, verdict, thresholds),
        "good": tuple(p for p, s in zip(good, evaluation.scores, strict=False) if s.value >= thresholds.lower),
        "web_missing": _web_missing(state, verdict, available=context.services.web.available),
        "calls": evaluation.calls,
    }


def _judged_parts(evaluation: Evaluation, question: str, policy: Policy) -> tuple[Part, ...]:
    whole = Part(text=question, scores=evaluation.scores)
    return evaluation.parts if policy.by_parts and evaluation.parts else (whole,)


def _web_missing(state: State, verdict: Verdict, *, available: bool) -> Abstention | None:
    """Why the web is not asked though it would help; None where it is asked, or is of no need."""
    wanted = state.get("web_wanted")
    if verdict is Verdict.CORRECT and not wanted:
        return None
    if not (available and state.get("web_allowed", True)):
        return Abstention.WEB_OFF
    return Abstention.WEB_NOT_ASKED if wanted is False else None


def _check(evaluation: Evaluation, passages: int) -> None:
    """A score that is missing or no number in [0, 1] would give a verdict without ground."""
    for scores in (evaluation.scores, *(part.scores for part in evaluation.parts)):
        if len(scores) != passages:
            raise ModelReplyError(f"{len(scores)} scores for {passages} passages.", calls=evaluation.calls)
        if not all(0.0 <= score.value <= 1.0 for score in scores):
            raise ModelReplyError("A score is not between 0 and 1.", calls=evaluation.calls)


def _reason(parts: tuple[Part, ...], verdict: Verdict, thresholds: Thresholds) -> str:
    if not any(part.scores for part in parts):
        return "The library has no passage for this question."
    best = {part.text: max(part.scores, key=lambda score: score.value) for part in parts}
    if verdict is Verdict.CORRECT:
        return f"The library answers it{_each(best)}: {_said(best)}; {thresholds.upper:.2f} is enough."
    if verdict is Verdict.INCORRECT:
        return f"No passage of the library helps: {_said(best)}; below {thresholds.lower:.2f} is of no use."
    return f"The library answers it only in part: {_said(best)}; {thresholds.upper:.2f} would be enough."


def _each(best: dict[str, Score]) -> str:
    return " in each part" if len(best) > 1 else ""


def _said(best: dict[str, Score]) -> str:
    """The best score of each part, with its reason."""
    if len(best) == 1:
        return ", ".join(f"the best scores {score.value:.2f} ({score.reason})" for score in best.values())
    return ", ".join(f"“{part}” {score.value:.2f} ({score.reason})" for part, score in best.items())
