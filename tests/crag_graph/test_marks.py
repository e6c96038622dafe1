import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crag_graph.marks import Marks, bracketed, without_marks


def settled(draft: str, known: tuple[int, ...] = (1, 2, 3), *, pieces: int = 10_000) -> Marks:
    marks = Marks(known)
    shown = "".join(marks.feed(draft[start : start + pieces]) for start in range(0, len(draft), pieces))
    assert shown + marks.finish() == marks.text
    return marks


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("Leave is paid. [2] It lasts a year. [1]", "Leave is paid. [1] It lasts a year. [2]"),
        ("Both say so [1, 2].", "Both say so [1][2]."),
        ("Both say so [1,2] or [1; 2].", "Both say so [1][2] or [1][2]."),
        ("Both say so [2][1].", "Both say so [1][2]."),
        ("Wide ［1］, ［１，２］ and 【1】.", "Wide [1], [1][2] and [1]."),
        ("All of them [1-3], [1–2], [1 - 2].", "All of them [1][2][3], [1][2], [1][2]."),
        ("As a footnote [^2].", "As a footnote [1]."),
        ("As some models do 【1†source】.", "As some models do [1]."),
        ("Twice [1][1].", "Twice [1]."),
        ("As a link [[2]](https://x.example/Access%20Card(s)%20Guide.pdf), see [1](https://y.example).",
         "As a link [1], see [2]."),
        ("In front of a remark [1](as agreed).", "In front of a remark [1](as agreed)."),
    ],
)  # fmt: skip
def test_marks_are_read_in_every_spelling_and_numbered_as_they_appear(draft: str, text: str) -> None:
    assert settled(draft).text == text


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("Invented [9].", "Invented."),
        ("Half invented [1, 9].", "Half invented [1]."),
        ("A range beyond [2-40].", "A range beyond [1][2]."),
        ("[7] In front.", "In front."),
        ("Invented with a link [8](https://x.example).", "Invented with a link."),
    ],
)
def test_a_mark_that_points_at_nothing_is_removed(draft: str, text: str) -> None:
    assert settled(draft).text == text


@pytest.mark.parametrize(
    "text",
    [
        "Write `a[1]` for the second element.",
        "Write ``a[1]`b`` in Markdown.",
        "```python\na[1] = b[2]\n```\n",
        "~~~\na[1]\n~~~\n",
        "```\nnever closed [2]\n",
        "A score in [0, 1], a box [ ], [x], [see below], [2024].",
        "Half a mark [1",
    ],
)
def test_what_is_no_mark_stays_as_it_is(text: str) -> None:
    marks = settled(text)
    assert (marks.text, marks.cited) == (text, {})


def test_marks_around_code_are_still_settled() -> None:
    draft = "Use `a[2]` [2]:\n\n```\na[3]\n```\nas told [1]."
    assert settled(draft).text == "Use `a[2]` [1]:\n\n```\na[3]\n```\nas told [2]."


def test_a_backtick_without_a_partner_holds_nothing_back() -> None:
    marks = Marks((1, 2))
    shown = marks.feed("5` of rain [2] and\nmore [1] and ")
    assert shown == "5` of rain [1] and\nmore [2] and"


def test_a_mark_split_over_two_deltas_is_shown_when_it_is_whole() -> None:
    marks = Marks((4,))
    assert [marks.feed(delta) for delta in ("Paid [", "4", "]", " and")] == ["Paid", "", "", " [1] and"]


def test_text_without_marks_is_shown_at_once() -> None:
    assert Marks((1,)).feed("Twelve weeks.") == "Twelve weeks."


@pytest.mark.parametrize(
    "text", ["[1][" * 5_000, "`" * 20_001, "[1](https://" + "(" * 20_000, "[" * 20_000, " [1-999]" * 5_000]
)
def test_hostiledrafts_take_no_time_to_speak_of(text: str) -> None:
    marks = Marks((1,))
    for start in range(0, len(text), 50):
        marks.feed(text[start : start + 50])
    marks.finish()


_pieces = st.sampled_from(
    ["[1]", "[2, 3]", "［1］", "【2】", "[9]", "[1-3]", "[", "]", "(", ")", "(https://x.example/a(b)c)", "`", "```", "~~~",
     "\n", " ", "  ", "a", "Leave is paid.", "0", "1", ",", "†", "[[2]]", "[^1]", "値は３．１４です。", "h", "[0, 1]", ". ", "\n\n", "- ", "Ten weeks [1]. "]
)  # fmt: skip
drafts = st.lists(_pieces, max_size=30).map("".join)


@settings(max_examples=400, deadline=None)
@given(draft=drafts, cuts=st.lists(st.integers(min_value=0, max_value=120), max_size=12))
def test_a_draft_cut_anywhere_gives_the_same_text_and_the_same_marks(draft: str, cuts: list[int]) -> None:
    marks = Marks((1, 2, 3))
    borders = [0, *sorted(min(cut, len(draft)) for cut in cuts), len(draft)]
    shown = "".join(marks.feed(draft[start:end]) for start, end in pairwise(borders))
    shown += marks.finish()
    together = settled(draft)
    assert (shown, marks.cited, marks.places) == (together.text, together.cited, together.places)


@settings(max_examples=200, deadline=None)
@given(draft=drafts)
def test_marks_count_up_without_a_gap_and_stand_where_they_are_said_to(draft: str) -> None:
    marks = settled(draft)
    assert list(marks.cited.values()) == list(range(1, len(marks.cited) + 1))
    assert all(marks.text.startswith(f"[{marks.cited[number]}]", offset) for offset, number in marks.places)


def test_marks_behind_a_code_block_stand_outside_of_it() -> None:
    marks = settled("```\nbook(train)\n```", (1,))
    marks.append((1,))
    assert re.search(r"```\n\n\[1\]$", marks.text)


def test_numbers_in_brackets_are_found_in_every_spelling() -> None:
    assert bracketed("Said [2], [5-7] and 【9】, not [0, 1], [2024] or (3).") == {2, 5, 6, 7, 9}


def test_a_text_without_its_marks_keeps_its_words() -> None:
    assert without_marks("Paid [1][2], in full [3].") == "Paid , in full ."
