"""Long Markdown in pieces."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.text.splitting import SMALLEST, split

WORDS = st.text(alphabet="abcdefgh é。漢字", min_size=1, max_size=60)


def words(text: str) -> str:
    return re.sub(r"\s", "", text)


def unwrapped(pieces: list[str]) -> str:
    """The pieces put together again, without the marks by which code was closed and opened."""
    return re.sub(r"\n```\n(?:CUT\n)```[a-z]*\n", "", "\nCUT\n".join(pieces)).replace("CUT", "")


@pytest.mark.parametrize("size", [1, 3_000, 3_001, 4_001, 12_001, 40_001])
@pytest.mark.parametrize("unit", ["word ", "A sentence ends. ", "a paragraph\n\n", "- item\n", "漢字。", "x"])
def test_every_character_comes_once_and_in_order(size: int, unit: str) -> None:
    text = (unit * size)[:size]
    pieces = split(text, 3_000)
    assert max((len(piece) for piece in pieces), default=0) <= 3_000
    assert words("".join(pieces)) == words(text)


@given(st.lists(WORDS, max_size=80), st.sampled_from(["\n\n", "\n", " ", "\n- ", ". "]), st.integers(SMALLEST, 600))
def test_nothing_is_lost_or_repeated(parts: list[str], joint: str, limit: int) -> None:
    text = joint.join(parts)
    pieces = split(text, limit)
    assert all(0 < len(piece) <= limit for piece in pieces)
    assert words("".join(pieces)) == words(text)


@given(st.lists(st.sampled_from(["code line", "x = 1", "", "    indented", "y" * 150]), min_size=1, max_size=60))
def test_code_that_is_cut_is_closed_and_opened_again(lines: list[str]) -> None:
    text = "before\n\n```python\n" + "\n".join(lines) + "\n```\n\nafter"
    pieces = split(text, 300)
    assert all(len(piece) <= 300 for piece in pieces)
    assert all(piece.count("```") % 2 == 0 for piece in pieces)
    assert words(unwrapped(pieces)) == words(text)


def test_a_table_that_is_cut_repeats_its_head() -> None:
    head = "| name | days |\n|---|---|\n"
    rows = [f"| row {number} | {number} |" for number in range(100)]
    pieces = split("Here:\n\n" + head + "\n".join(rows) + "\n\nDone.", 500)
    assert all(piece.startswith(head) for piece in pieces[1:])
    assert [row for piece in pieces for row in piece.split("\n") if row.startswith("| row")] == rows


def test_paragraphs_are_preferred_over_lines_and_lines_over_sentences() -> None:
    paragraph = "First sentence here. Second sentence here.\nNext line."
    text = "\n\n".join([paragraph] * 10)
    assert all(piece.startswith("First") and piece.endswith("line.") for piece in split(text, 230))


def test_no_mark_entity_link_or_emoji_is_torn() -> None:
    for torn in ("[12]", "&lt;", "[a label](https://x.test/abc)", "👩🏽", "e\u0301"):
        for shift in range(30):
            text = "x" * (185 + shift) + torn + "y" * 150
            assert any(torn in piece for piece in split(text, 200)), (torn, shift)


def test_a_deep_list_item_does_not_become_code() -> None:
    text = "\n".join(f"{'    ' * (number % 2)}- item {number} and some words" for number in range(60))
    assert all(piece.startswith("- ") for piece in split(text, 300))


@pytest.mark.parametrize("text", ["", "\n\n", "   \n"])
def test_nothing_makes_no_piece(text: str) -> None:
    assert split(text, 300) == []


@pytest.mark.parametrize(
    "text", ["```" + "x" * 5_000, "| " + "x" * 5_000 + " |\n|---|\n" + "| y |\n" * 500, "`" * 5_000]
)
@pytest.mark.timeout(5)
def test_hostile_structure_ends(text: str) -> None:
    assert all(len(piece) <= 300 for piece in split(text, 300))
