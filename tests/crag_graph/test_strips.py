import dataclasses
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from crag_graph.domain import Kind, Passage, Strip
from crag_graph.sentences import sentences
from crag_graph.strips import decompose, excerpt, recombine


def passage(text: str, *, name: str = "1", location: str = "", document: str = "handbook") -> Passage:
    return Passage(
        id=name, kind=Kind.INTERNAL, document=document, source="a.md", title="A", text=text, location=location
    )


def texts(text: str, location: str = "") -> list[str]:
    return [strip.text for strip in decompose(passage(text, location=location))]


def contexts(text: str, location: str = "") -> list[str]:
    return [strip.context for strip in decompose(passage(text, location=location))]


def test_prose_gives_windows_of_three_sentences_that_share_one() -> None:
    assert texts("It is A. It is B. It is C. It is D. It is E. It is F.") == [
        "It is A. It is B. It is C.",
        "It is C. It is D. It is E.",
        "It is E. It is F.",
    ]


def test_windows_stay_within_sixty_words_but_two_sentences_stay_together() -> None:
    sentence = "Every member of the team who has worked here for a year may take " + "very " * 10 + "long leave. "
    assert len(sentence.split()) == 26
    assert [text.count("leave.") for text in texts(sentence * 4)] == [2, 2, 2]
    longer = "A " + "very " * 50 + "long leave. "
    assert [text.count("leave.") for text in texts(longer * 3)] == [1, 1, 1]


def test_an_endless_sentence_is_cut_at_clauses() -> None:
    endless = "and so on, " * 100
    pieces = texts(endless)
    assert all(len(piece.split()) <= 60 for piece in pieces)
    assert all(piece.endswith(",") for piece in pieces)
    assert " ".join(pieces) == endless.strip()


def test_text_without_spaces_is_cut_too() -> None:
    assert "".join(texts("x" * 5_000)) == "x" * 5_000
    assert all(len(text) <= 900 for text in texts("x" * 5_000))
    assert all(len(text) <= 160 for text in texts("値" * 500))


def test_a_list_item_is_a_strip_with_its_lead_in_as_context() -> None:
    text = "Leave is paid.\n\nYou get leave for:\n\n- a birth\n\n- an adoption. It needs a letter.\n\nAsk early."
    assert texts(text, "Leave") == [
        "Leave is paid.\n\nYou get leave for:",
        "- a birth",
        "- an adoption. It needs a letter.",
        "Ask early.",
    ]
    lead = "Leave\nYou get leave for:"
    assert contexts(text, "Leave") == ["Leave", lead, lead, "Leave"]


def test_a_list_without_lead_in_takes_none() -> None:
    assert contexts("Leave is paid.\n\n- a birth\n\n- a move") == ["", "", ""]


def test_a_table_row_is_a_strip() -> None:
    rows = "City: Oslo; Rate: 80 €. Ask first; Hotel: 150 €\n\nCity: Rome; Rate: 60 €; Hotel: 120 €"
    assert texts(f"Rates differ. See below.\n\n{rows}") == ["Rates differ. See below.", *rows.split("\n\n")]


def test_rows_between_pipes_carry_their_header() -> None:
    table = "| City | Rate |\n|---|---|\n| Oslo | 80 |\n| Rome | 60 |\nAll in euros."
    assert texts(table) == ["| City | Rate |\n|---|---|", "| Oslo | 80 |", "| Rome | 60 |", "All in euros."]
    assert contexts(table, "Travel") == ["Travel", "Travel\n| City | Rate |", "Travel\n| City | Rate |", "Travel"]


def test_paragraphs_do_not_share_windows_but_a_question_stays_with_its_answer() -> None:
    assert texts("It is A. It is B.\n\nIt is C. It is D.") == ["It is A. It is B.", "It is C. It is D."]
    assert texts("How much?\n\nIt is C. It is D.") == ["How much?\n\nIt is C. It is D."]


def test_a_page_number_is_no_context() -> None:
    assert contexts("It is A.", "page 3") == [""]


def test_an_empty_passage_has_no_strips() -> None:
    assert decompose(passage(" \n ")) == ()
    assert recombine(()) == ()
    assert excerpt(()) == ""


def test_kept_strips_come_in_source_order_with_an_ellipsis_at_gaps() -> None:
    text = "It is A. It is B. It is C. It is D. It is E. It is F. It is G.\n\nThe end is H. It is I."
    strips = decompose(passage(text))
    assert (
        excerpt([strips[3], strips[1], strips[0]])
        == "It is A. It is B. It is C. It is D. It is E. … The end is H. It is I."
    )
    merged = recombine([strips[1], strips[0]])
    assert [(strip.start, strip.end) for strip in merged] == [(0, text.index(" It is F"))]


def test_the_overlap_of_two_passages_is_quoted_once() -> None:
    first = passage("The first rule is A. The second rule is B.", name="1", location="Rules")
    second = passage("The second rule is B. The third rule is C.", name="2", location="Rules")
    assert excerpt([*decompose(first), *decompose(second)]) == (
        "The first rule is A. The second rule is B. … The third rule is C."
    )
    assert excerpt([*decompose(first), *decompose(first)]) == first.text


def test_the_same_words_under_another_heading_are_another_statement() -> None:
    birth = passage("- 20 days", name="1", location="Birth")
    adoption = passage("- 20 days", name="2", location="Adoption")
    assert len(recombine([*decompose(birth), *decompose(adoption)])) == 2


prose = [
    "It is A. ",
    "We took the long way. ",
    "Why? ",
    "Lead in: ",
    "値です。",
    "very " * 70,
    "x" * 1000,
    "\ud800\x00",
]
lines = ["\n\n", "\n", "- an item ", "1. first ", "a: b; c: d\n", "| x | y |\n", "|---|---|\n", "\x0c"]
pieces = st.sampled_from([*prose, *lines])
passages = st.one_of(st.text(), st.lists(pieces, max_size=12).map("".join)).map(passage)


@given(passages)
def test_all_strips_together_give_back_the_passage(found: Passage) -> None:
    strips = decompose(found)
    assert excerpt(strips) == found.text.strip()
    assert len(recombine(strips)) == bool(found.text.strip())


@given(passages)
def test_the_same_passage_always_gives_the_same_strips(found: Passage) -> None:
    again = dataclasses.replace(found, id="2", source="elsewhere", superseded=True, features=b"1", document="another")
    assert [(s.start, s.end, s.context) for s in decompose(found)] == [
        (s.start, s.end, s.context) for s in decompose(again)
    ]


@given(passages, st.data())
def test_no_sentence_comes_twice_whatever_is_kept(found: Passage, data: st.DataObject) -> None:
    strips = decompose(found)
    kept = data.draw(st.lists(st.sampled_from(strips))) if strips else []
    together = recombine(kept)
    assert all(before.end < after.start for before, after in pairwise(together))
    assert _characters(kept) <= _characters(together)


@given(passages)
def test_every_strip_is_small(found: Passage) -> None:
    spans = sentences(found.text)  # of the whole: cut out of it, a strip may read as other sentences
    for strip in decompose(found):
        inside = [span for span in spans if strip.start <= span[0] and span[1] <= strip.end]
        assert strip.text == strip.text.strip() != ""
        assert len(strip.text.split()) <= 80
        assert len(inside) <= 3 or strip.text.startswith(("|", "-", "a:", "1."))


def _characters(strips: tuple[Strip, ...] | list[Strip]) -> set[int]:
    """Positions of the passage that are neither space nor missing."""
    return {
        position
        for strip in strips
        for position in range(strip.start, strip.end)
        if not strip.passage.text[position].isspace()
    }
