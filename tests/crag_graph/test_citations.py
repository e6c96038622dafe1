from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crag_graph.citations import cite, numbered, supporting
from crag_graph.domain import Kind, Passage, Strip
from tests.crag_graph.test_marks import drafts, settled
from tests.fakes.services import page, passage


def whole(passage: Passage) -> Strip:
    return Strip(passage=passage, start=0, end=len(passage.text))


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


def test_a_citation_says_that_its_document_is_old() -> None:
    old = replace(HANDBOOK, superseded=True, newer="Employee handbook 2026")
    sources = numbered([whole(old), whole(TRAVEL)])
    marks = settled("Adoption leave is ten weeks [1]. Trains need no approval [2].", tuple(sources))
    assert [(one.superseded, one.newer) for one in cite(marks, sources)] == [
        (True, "Employee handbook 2026"),
        (False, ""),
    ]


def test_a_mark_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    sources = numbered([whole(HANDBOOK)])
    marks = settled("Adoption leave is ten weeks. [1] Parental leave is longer.", tuple(sources))
    assert cite(marks, sources)[0].quote == "Adoption leave lasts ten weeks."


def test_a_mark_behind_several_sentences_stands_for_all_of_them() -> None:
    sources = numbered([whole(HANDBOOK)])
    marks = settled("Parental leave is twelve weeks long. Everybody knows that. [1]", tuple(sources))
    assert cite(marks, sources)[0].quote == "Parental leave lasts twelve weeks."


def test_marks_side_by_side_stand_for_the_same_sentences() -> None:
    sources = numbered([whole(TRAVEL), whole(HANDBOOK)])
    marks = settled("Parental leave is twelve weeks long. Everybody knows that. [1][2]", tuple(sources))
    assert cite(marks, sources)[1].quote == "Parental leave lasts twelve weeks."


def test_a_mark_does_not_stand_for_another_paragraph() -> None:
    sources = numbered([whole(HANDBOOK)])
    marks = settled("Parental leave lasts twelve weeks.\n\nAdoption leave is ten weeks. [1]", tuple(sources))
    assert cite(marks, sources)[0].quote == "Adoption leave lasts ten weeks."


def test_a_mark_does_not_stand_for_what_another_mark_covers() -> None:
    sources = numbered([whole(HANDBOOK), whole(TRAVEL)])
    marks = settled("Parental leave lasts twelve weeks [2]. Adoption leave is ten weeks [1].", tuple(sources))
    assert cite(marks, sources)[1].quote == "Adoption leave lasts ten weeks."


def test_of_repeated_sentences_the_one_that_was_asked_for_is_quoted() -> None:
    sources = numbered([whole(HANDBOOK)])
    marks = settled(f"{HANDBOOK.text} [1]", tuple(sources))
    assert cite(marks, sources, question="How long is adoption leave?")[0].quote == "Adoption leave lasts ten weeks."
    assert cite(marks, sources, question="Is it paid?")[0].quote == "Both are paid in full."


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


@pytest.mark.parametrize(
    "answer", ["A. [1]\nB. [2]", "A\n[1]\nB [2]", "A. [1]\n\nB. [2]", "\n[1][2]", "- a [1]\n- b [2]"]
)
def test_marks_at_the_end_of_a_paragraph_are_cited(answer: str) -> None:
    sources = {number: (whole(passage(f"Text {number}.", document=f"d{number}")),) for number in (1, 2)}
    assert [citation.mark for citation in cite(settled(answer), sources)] == [1, 2]


@settings(max_examples=300, deadline=None)
@given(draft=drafts, question=st.sampled_from(["", "How long is adoption leave?", "?"]))
def test_whatever_the_draft_each_number_shown_is_cited_with_a_text_of_its_source(draft: str, question: str) -> None:
    sources = {1: (whole(HANDBOOK),), 2: (whole(TRAVEL),), 3: (whole(passage("値は３．１４です。次です。")),)}
    marks = settled(draft)
    citations = cite(marks, sources, question=question)
    assert [citation.mark for citation in citations] == list(range(1, len(marks.cited) + 1))
    for number, citation in zip(marks.cited, citations, strict=True):
        assert citation.quote
        assert citation.quote in sources[number][0].text
