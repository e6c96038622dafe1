"""Where the graph goes next; pure."""

from typing import Literal

from crag_graph.domain import Verdict
from crag_graph.state import State


def after_evaluate(state: State) -> Literal["refine", "rewrite"]:
    """A correct verdict needs no web, but the asker may want it; where it cannot be asked, what the library has must do."""
    web_useful = state["verdict"] is not Verdict.CORRECT or state.get("web_wanted")
    return "rewrite" if web_useful and state.get("web_missing") is None else "refine"


def after_refine(state: State) -> Literal["generate", "abstain"]:
    """Generation may use the kept strips only: none kept, no answer."""
    return "generate" if any(judged.kept for judged in state["strips"]) else "abstain"


def after_generate(state: State) -> Literal["abstain", "__end__"]:
    """A writer that finds no answer in what was kept writes none."""
    return "__end__" if "answer" in state else "abstain"
