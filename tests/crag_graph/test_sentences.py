import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag_graph.sentences import sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Some plans, e.g. Basic and i.e. Free, cost nothing.",
        "Dr. Amara Osei and Prof. Lindqvist wrote it.",
        "The rule is in vol. 4, pp. 12 to 19, and in No. 5.",
        "A Ph.D.-level course takes 3.14 hours vs. 2.5 before.",
        "It was written by J. R. R. Hartley for Acme Inc. Berlin.",
        "See https://example.org/a.b?c=1. and www.example.org for more.",
        "Version 2.10.3 runs on node.js and costs $1.50 (approx. 1.40 €).",
        "It depends on the memory etc. and the disk.",
        "„Wirklich?“ fragte sie am 3. März 2024.",
        "They work from 9 a.m. to 5 p.m. on Fridays.",
        "The limit (see sec. 4.2 and fig. 3) is 60.",
        "Wait... it goes on.",
    ],
)
def test_these_are_one_sentence(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is small. It is fast! Is it good? Yes.", ["It is small.", "It is fast!", "Is it good?", "Yes."]),
        ("The answer is no. We asked twice.", ["The answer is no.", "We asked twice."]),
        ("We chose plan B. The other failed.", ["We chose plan B.", "The other failed."]),
        ("It belongs to Acme Inc. The office is shut.", ["It belongs to Acme Inc.", "The office is shut."]),
        ("They open at 9 a.m. Lunch is at noon.", ["They open at 9 a.m.", "Lunch is at noon."]),
        ("He said “Stop.” Then he left.", ["He said “Stop.”", "Then he left."]),
        ("(It is optional.) Use it.", ["(It is optional.)", "Use it."]),
        ("It grew by 3.5 %.[12] The rest fell.", ["It grew by 3.5 %.[12]", "The rest fell."]),
        ("It was 2024. Then 3. The end.", ["It was 2024.", "Then 3.", "The end."]),
        ("ok. it works now. thanks!", ["ok.", "it works now.", "thanks!"]),
        ("यह एक वाक्य है। यह दूसरा है।", ["यह एक वाक्य है।", "यह दूसरा है।"]),
        ("¿Cuánto dura? Dura dos horas.", ["¿Cuánto dura?", "Dura dos horas."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_full_width_decimals_stay_whole_and_closing_quotes_stay_with_their_sentence() -> None:
    assert split("値は３．１４です。次です。「はい。」と言った。") == [
        "値は３．１４です。",
        "次です。",
        "「はい。」と言った。",
    ]
    assert split("「一つ。」「二つ。」") == ["「一つ。」", "「二つ。」"]
    assert split("结果很好！下一步？完成。") == ["结果很好！", "下一步？", "完成。"]


def test_list_items_are_sentences_of_their_own() -> None:
    text = "You need:\n- a badge\n- a laptop. It must be locked\n1. First ask.\n2) Then wait\n• Done"
    assert split(text) == [
        "You need:",
        "- a badge",
        "- a laptop.",
        "It must be locked",
        "1. First ask.",
        "2) Then wait",
        "• Done",
    ]


def test_table_rows_are_sentences_of_their_own() -> None:
    long = "Region: the northern countries and the islands; Allowance: 64 € a day; Hotel: 150 €"
    assert split(f"{long}\n{long}") == [long, long]
    assert split("Name: A. Roe; Note: Late. Ask first; No.: 4") == ["Name: A. Roe; Note: Late. Ask first; No.: 4"]
    assert split("| plan | price |\n|---|---|\n| Free | 0 |") == ["| plan | price |", "|---|---|", "| Free | 0 |"]
    assert split("City\tRate\nOslo\t80") == ["City\tRate", "Oslo\t80"]


def test_a_wrapped_line_goes_on_and_a_heading_does_not() -> None:
    text = "Parental leave\nEvery parent who has worked here for a full year may take\nSeptember off. It is paid."
    assert split(text) == [
        "Parental leave",
        "Every parent who has worked here for a full year may take\nSeptember off.",
        "It is paid.",
    ]


def test_paragraphs_end_sentences_with_every_kind_of_line_break() -> None:
    assert split("one more word\r\n\r\nand another\n \nand a third\x0cand a page") == [
        "one more word",
        "and another",
        "and a third",
        "and a page",
    ]


def test_nothing_but_space_has_no_sentences() -> None:
    assert sentences("") == []
    assert sentences(" \n\t \u3000\n") == []


odd = "…\x0c\u2028\x00\ud800\n\r\t\x1c\x85”(. -"
whole = ["Dr. ", "e.g. ", "No. 5 ", "it ", "We ", "end. ", "So? ", "「はい。」", "３．１４", "次です。"]
pieces = st.sampled_from([*odd, *whole, "a: b; c: d", "| x | y |", "\n\n", "\r\n", "- ", "1. ", "[3]"])


@given(st.one_of(st.text(), st.lists(pieces).map("".join)))
def test_spans_are_ordered_disjoint_trimmed_and_cover_all_that_is_not_space(text: str) -> None:
    covered = 0
    for start, end in sentences(text):
        assert covered <= start < end <= len(text)
        assert not text[covered:start].strip()
        assert text[start:end] == text[start:end].strip()
        covered = end
    assert not text[covered:].strip()


@pytest.mark.parametrize(
    "unit", ["The leave is 3.5 days, e.g. in No. 4. It was set by Dr. Roe. ", ".", "a\n", "| ", "A. ", "word ", " "]
)
def test_twenty_three_kilobytes_take_a_few_milliseconds(unit: str) -> None:
    text = (unit * 23_000)[:23_000]
    started = time.process_time()
    sentences(text)
    assert time.process_time() - started < 0.2
