import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crag_graph.citations import Marks, cite, numbered, supporting
from crag_graph.domain import Kind, Passage, Strip
from tests.fakes.services import page, passage


def whole(passage: Passage) -> Strip:
    return Strip(passage=passage, start=0, end=len(passage.text))


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
def test_hostile_drafts_take_no_time_to_speak_of(text: str) -> None:
    marks = Marks((1,))
    for start in range(0, len(text), 50):
        marks.feed(text[start : start + 50])
    marks.finish()


_pieces = st.sampled_from(
    ["[1]", "[2, 3]", "［1］", "【2】", "[9]", "[1-3]", "[", "]", "(", ")", "(https://x.example/a(b)c)", "`", "```", "~~~",
     "\n", " ", "  ", "a", "Leave is paid.", "0", "1", ",", "†", "[[2]]", "[^1]", "値は３．１４です。", "h", "[0, 1]"]
)  # fmt: skip
_drafts = st.lists(_pieces, max_size=30).map("".join)


@settings(max_examples=400, deadline=None)
@given(draft=_drafts, cuts=st.lists(st.integers(min_value=0, max_value=120), max_size=12))
def test_a_draft_cut_anywhere_gives_the_same_text_and_the_same_marks(draft: str, cuts: list[int]) -> None:
    marks = Marks((1, 2, 3))
    borders = [0, *sorted(min(cut, len(draft)) for cut in cuts), len(draft)]
    shown = "".join(marks.feed(draft[start:end]) for start, end in pairwise(borders))
    shown += marks.finish()
    together = settled(draft)
    assert (shown, marks.cited, marks.places) == (together.text, together.cited, together.places)


@settings(max_examples=200, deadline=None)
@given(draft=_drafts)
def test_marks_count_up_without_a_gap_and_stand_where_they_are_said_to(draft: str) -> None:
    marks = settled(draft)
    assert list(marks.cited.values()) == list(range(1, len(marks.cited) + 1))
    assert all(marks.text.startswith(f"[{marks.cited[number]}]", offset) for offset, number in marks.places)


def test_two_passages_of_one_document_share_one_number() -> None:
    first, second = passage("Leave is paid.", document="handbook"), passage("It lasts a year.", document="handbook")
    other = passage("Trips are booked early.", document="travel")
    sources = numbered([whole(first), whole(other), whole(second)])
    assert {number: [strip.passage for strip in strips] for number, strips in sources.items()} == {
        1: [first, second],
        2: [other],
    }


def test_a_page_and_a_document_of_one_name_are_two_sources() -> None:
    inside, outside = passage("a", document="same"), passage("b", document="same", kind=Kind.WEB)
    assert list(numbered([whole(inside), whole(outside)])) == [1, 2]


def test_a_reference_inside_a_source_never_becomes_a_citation_of_another() -> None:
    article = passage("Transformers were proposed in 2017.[2] They replaced older nets.[1][3]")
    sources = numbered([whole(article), whole(passage("Something else."))])
    assert list(sources) == [4, 5]
    assert settled("Proposed in 2017.[2] [4]", tuple(sources)).text == "Proposed in 2017. [1]"


HANDBOOK = passage(
    "Parental leave lasts twelve weeks. Adoption leave lasts ten weeks. Both are paid in full.",
    title="Employee handbook",
    document="handbook",
)
TRAVEL = passage("Flights are booked by the travel desk. Trains need no approval.", title="Travel", document="travel")


def test_a_citation_quotes_the_sentence_that_supports_its_mark() -> None:
    sources = numbered([whole(HANDBOOK), whole(TRAVEL)])
    marks = settled("Trains may be booked without approval [2]. Adoption leave is ten weeks [1].", tuple(sources))
    citations = cite(marks, sources)
    assert [(c.mark, c.title, c.quote) for c in citations] == [
        (1, "Travel", "Trains need no approval."),
        (2, "Employee handbook", "Adoption leave lasts ten weeks."),
    ]
    assert all(c.quote in HANDBOOK.text + TRAVEL.text for c in citations)


def test_a_mark_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    sources = numbered([whole(HANDBOOK)])
    marks = settled("Adoption leave is ten weeks. [1] Parental leave is longer.", tuple(sources))
    assert cite(marks, sources)[0].quote == "Adoption leave lasts ten weeks."


def test_a_quote_comes_from_the_kept_strips_only() -> None:
    kept = Strip(passage=HANDBOOK, start=0, end=HANDBOOK.text.index(" Adoption"))
    sources = numbered([kept])
    marks = settled("Adoption leave is ten weeks [1].", tuple(sources))
    assert cite(marks, sources)[0].quote == "Parental leave lasts twelve weeks."


def test_a_source_that_is_not_cited_is_not_listed() -> None:
    sources = numbered([whole(HANDBOOK), whole(TRAVEL)])
    marks = settled("It is ten weeks [1], they say [5] and [7].", tuple(sources))
    assert [citation.title for citation in cite(marks, sources)] == ["Employee handbook"]


def test_quotes_are_found_in_languages_without_spaces() -> None:
    rules = passage("育児休暇は十二週間です。養子縁組休暇は十週間です。", document="rules")
    sources = numbered([whole(rules)])
    marks = settled("養子縁組の休暇は十週間です[1]。", tuple(sources))
    assert cite(marks, sources)[0].quote == "養子縁組休暇は十週間です。"


def test_a_page_is_cited_with_its_address() -> None:
    article = page("Layer normalisation works on one example.", title="Norms", link="https://pages.example/norms")
    sources = numbered([whole(article)])
    citation = cite(settled("It works on one example [1].", tuple(sources)), sources)[0]
    assert (citation.kind, citation.title, citation.link) == (Kind.WEB, "Norms", "https://pages.example/norms")


def test_a_draft_that_forgot_its_marks_gets_those_of_the_sources_that_support_it() -> None:
    sources = numbered([whole(HANDBOOK), whole(TRAVEL)])
    draft = "Adoption leave lasts ten weeks and is paid in full."
    support = supporting(draft, sources)
    marks = settled(draft, tuple(sources))
    assert support == (1,)
    assert marks.append(support) == " [1]"
    assert cite(marks, sources)[0].quote == "Adoption leave lasts ten weeks."


def test_a_draft_that_no_source_supports_gets_no_mark() -> None:
    sources = numbered([whole(HANDBOOK), whole(TRAVEL)])
    assert supporting("Bananas grow near the equator, mostly in Ecuador.", sources) == ()


def test_marks_behind_a_code_block_stand_outside_of_it() -> None:
    marks = settled("```\nbook(train)\n```", (1,))
    marks.append((1,))
    assert re.search(r"```\n\n\[1\]$", marks.text)
