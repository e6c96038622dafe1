"""What the pages draw and compute, without a page."""

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.admin.application import HERE
from bot.admin.charts import Point, grouped, stacked
from bot.admin.picture import ARROWS, PLACES, draw
from bot.admin.strips import Fate, pieces
from bot.prices import Price, cost
from crag_graph.graph import STEPS, mermaid


def judged(start: int, end: int, *, kept: bool) -> dict[str, Any]:
    return {"strip": {"start": start, "end": end}, "kept": kept, "score": {"value": 0.5, "reason": "so"}}


def test_the_picture_has_every_node_and_every_way_of_the_graph() -> None:
    assert {step.name for step in STEPS} == set(PLACES)
    ways = {(start, end) for start, end in re.findall(r"^\s*(\w+) -[-.]+> (?:\|\S*\|)?(\w+);", mermaid(), re.MULTILINE)}
    assert {(start, end) for start, end, _ in ARROWS} == {way for way in ways if set(way) <= set(PLACES)}


def test_the_path_that_was_taken_is_marked() -> None:
    order = ("contextualize", "retrieve", "evaluate", "rewrite", "search_web", "refine", "abstain")
    picture = draw([(node, 10.0) for node in order], faulty=frozenset({"search_web"}))
    taken = [arrow[:2] for arrow, drawn in zip(ARROWS, picture.arrows, strict=True) if drawn.taken]
    assert set(taken) == set(pairwise(order))
    boxes = {box.node: box for box in picture.boxes}
    assert boxes["generate"].milliseconds is None
    assert boxes["search_web"].failed


def test_strips_that_overlap_are_kept_where_one_of_them_is() -> None:
    found = pieces("one. two. three. four.", [judged(0, 10, kept=True), judged(5, 17, kept=False)])
    assert [(piece.text, piece.fate) for piece in found] == [
        ("one. ", Fate.KEPT),
        ("two. ", Fate.KEPT),
        ("three. ", Fate.DROPPED),
        ("four.", Fate.UNTOUCHED),
    ]


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(-5, 50), st.integers(-5, 50), st.booleans()), max_size=8),
)
def test_the_pieces_of_a_text_are_the_whole_text(text: str, spans: list[tuple[int, int, bool]]) -> None:
    found = pieces(text, [judged(start, end, kept=kept) for start, end, kept in spans])
    assert "".join(piece.text for piece in found) == text


def test_a_model_costs_what_its_table_says_also_as_a_dated_version() -> None:
    prices = {"gpt-4.1": Price(prompt=2, completion=8), "gpt-4.1-mini": Price(prompt=0.4, completion=1.6)}
    assert cost(prices, "gpt-4.1-mini-2025-04-14", 1_000_000, 1_000_000) == pytest.approx(2.0)
    assert cost(prices, "gpt-4.1", 1_000_000, 0) == pytest.approx(2.0)
    assert cost(prices, "gpt-4", 1, 0) is None
    assert cost(prices, "gpt-4", 0, 0) == 0


@pytest.mark.parametrize("highest", [0, 1, 3, 7, 99, 12_345, 10**9])
def test_a_chart_holds_links_and_nothing_that_a_strict_policy_refuses(highest: int) -> None:
    points = [Point(value=highest, link='/admin/traces?q="<b>&x', label="<script>alert(1)</script>")]
    for svg in (stacked(["30 Nov"], {"correct": points, "none": points}), grouped(["evaluate"], {"half": points})):
        for refused in ("<script", "<style", "style=", "http://pygal", "onload"):
            assert refused not in svg
        assert ('href="/admin/traces?q=&quot;&lt;b&gt;&amp;x"' in svg) is bool(highest)


def test_an_empty_chart_is_drawn() -> None:
    assert "<svg" in stacked(["30 Nov"], {"correct": [Point(value=0, link="/", label="")]})
    assert "<svg" in grouped([], {})


def colours(css: str) -> list[dict[str, str]]:
    """Light and dark: the names of the style sheet and their colours."""
    return [
        dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    ]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_text_can_be_read(theme: int) -> None:
    colour = colours((HERE / "static" / "admin.css").read_text("utf-8"))[theme]
    texts = [(ink, ground) for ink in ("ink", "dim", "link") for ground in ("paper", "card", "soft")]
    texts += [
        ("good", "good-soft"),
        ("warn", "warn-soft"),
        ("bad", "bad-soft"),
        ("on-accent", "accent"),
        ("ink", "kept"),
    ]
    texts += [("bad", "card"), ("accent", "card"), ("ink", "bad-soft"), ("ink", "good-soft")]
    poor = {pair: round(contrast(colour[pair[0]], colour[pair[1]]), 2) for pair in texts}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}
