"""The modal behind "How I got here", checked by the local Slack's own rules."""

from typing import Any

import pytest

from bot.slack.views.modal import how_view
from bot.traces.reading import Trace
from tests.slack_workspace.blocks import check_view
from tests.slack_workspace.clock import Clock
from tests.slack_workspace.screen import Screen
from tests.slack_workspace.world import World

RUN: dict[str, Any] = {
    "id": "trace-1",
    "question": "And the second?",
    "standalone": "How long is the second leave?",
    "verdict": "ambiguous",
    "reason": "The best passage scores 0.5.",
    "notice": "",
    "web_query": "second leave 2026",
    "calls": 1,
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "milliseconds": 812.3,
}


def passage(number: int, title: str = "Leave", **more: Any) -> dict[str, Any]:
    plain = {"id": f"p{number}", "title": title, "location": "Parents", "link": "https://x.test/leave"}
    return {**plain, **more}


def strip(text: str, *, kept: bool = True) -> dict[str, Any]:
    return {"strip": {"text": text}, "score": {"value": 0.9, "reason": "fits"}, "kept": kept}


def trace(*details: dict[str, Any], **run: Any) -> Trace:
    steps = tuple({"node": f"step-{n}", "milliseconds": 10.0 * n, "detail": detail} for n, detail in enumerate(details))
    return Trace(run={**RUN, **run}, steps=steps, feedback=(), reviews=())


def shown(view: dict[str, Any]) -> str:
    check_view(view)
    return Screen.of_blocks(view["blocks"], World(Clock())).text


def test_it_tells_what_was_found_judged_kept_and_asked_of_the_web() -> None:
    scores = [{"value": 0.5, "reason": "it names the leave"}, {"value": 0.1, "reason": "another topic"}]
    screen = shown(
        how_view(
            trace(
                {"passages": [passage(1), passage(2, "Travel")]},
                {"scores": scores, "good": [passage(1)]},
                {"pages": [passage(3, "A page")]},
                {"strips": [strip("It is 16 weeks."), strip("Unrelated.", kept=False)]},
            )
        )
    )
    for line in (
        "Asked as: How long is the second leave?",
        "Your documents were enough for a part only. The best passage scores 0.5.",
        "Passages: 2",
        "Leave — Parents · 0.50 · kept",
        "it names the leave",
        "Travel — Parents · 0.10 · dropped",
        "Excerpts that were kept: 1 of 2",
        "It is 16 weeks.",
        "Searched for: second leave 2026",
        "A page",
        "812 ms in all",
        "Model calls: 1, tokens: 15 · trace trace-1",
    ):
        assert line in screen
    assert "Unrelated" not in screen


def test_much_of_everything_keeps_to_slacks_limits() -> None:
    many = [passage(n, "T" * 5_000, location="L" * 5_000, link="https://x.test/" + "a" * 5_000) for n in range(100)]
    scores = [{"value": 0.5, "reason": "r" * 9_000}] * 100
    details = {"passages": many, "scores": scores, "good": many, "pages": many, "strips": [strip("s" * 9_000)] * 100}
    shown(
        how_view(trace(details, standalone="q" * 40_000, reason="r" * 9_000, web_query="w" * 400, notice="n" * 9_000))
    )


@pytest.mark.parametrize("words", ["", "<!channel>", "<https://e.test|x>", "*b* `c`", "a & b < c"])
def test_what_documents_say_is_shown_verbatim(words: str) -> None:
    found = {"passages": [passage(1, words, location=words, link=None)], "scores": [{"value": 1.0, "reason": words}]}
    view = how_view(trace(found, {"strips": [strip(words or "x")]}, standalone=words or "?"))
    screen = Screen.of_blocks(view["blocks"], World(Clock()))
    check_view(view)
    assert screen.pings == frozenset()
    assert screen.links == ()
    assert words in screen.text


def test_a_run_that_failed_early_shows_what_there_is() -> None:
    screen = shown(how_view(trace(verdict=None, web_query="", milliseconds=None, standalone="")))
    assert "Asked as: And the second?" in screen
    assert "not finished" in screen
