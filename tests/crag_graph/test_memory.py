from hypothesis import given
from hypothesis import strategies as st

from crag_graph.domain import Answer, Citation, Kind, Turn, Verdict
from crag_graph.memory import conversation, remembered, retold, split, storable, turns
from tests.crag_graph.running import turn

_turns = st.lists(st.integers(min_value=0, max_value=200).map(lambda size: turn("q", "a" * size)), max_size=12)


@given(turns=_turns, tokens=st.integers(min_value=0, max_value=200))
def test_a_split_loses_no_turn_and_keeps_the_order(turns: list[Turn], tokens: int) -> None:
    older, recent = split(turns, tokens=tokens)
    assert older + recent == turns


@given(turns=_turns, tokens=st.integers(min_value=0, max_value=200))
def test_what_stays_fits_into_the_budget_or_is_the_last_turn_alone(turns: list[Turn], tokens: int) -> None:
    _, recent = split(turns, tokens=tokens)
    characters = sum(len(one["question"] + one["standalone"] + one["answer"]) for one in recent)
    assert characters <= 4 * tokens or recent == turns[-1:]


def test_turns_that_fit_all_stay() -> None:
    turns = [turn("How long?", "Twelve weeks."), turn("Paid?", "Yes.")]
    assert split(turns, tokens=100) == ([], turns)


def test_a_conversation_that_never_was_is_empty() -> None:
    assert conversation({"question": "How long?"}).empty


def test_a_turn_is_retold_with_its_question_in_the_first_line() -> None:
    assert retold(turn("How\nlong?", "Twelve weeks [1].")) == "Question: How long?\nAnswer: Twelve weeks [1]."


def test_a_turn_keeps_what_was_cited_but_no_quote() -> None:
    citation = Citation(mark=1, kind=Kind.WEB, title="T", source="https://t.example", location="", quote="A secret.")
    answer = Answer(text="So [1].", verdict=Verdict.INCORRECT, reason="r", citations=(citation,))
    (last,) = remembered({"question": "Q?", "standalone": "Q, alone?"}, answer)
    assert last["sources"] == [{"mark": 1, "kind": "web", "title": "T", "source": "https://t.example", "location": ""}]
    assert all(type(value) in {str, list} for value in last.values()), "plain data"


def test_storable_text_has_no_nul_bytes_and_no_lone_surrogates() -> None:
    assert storable("a\x00b \ud83d 😀") == "ab ? 😀"


def test_the_latest_turn_of_a_question_is_taken_out_and_no_other() -> None:
    known = [turn("a", "1"), turn("b", "2"), turn("a", "3"), turn("c", "4")]
    assert turns({"turns": known, "retakes": "a"}) == [known[0], known[1], known[3]]
    assert turns({"turns": known, "retakes": "d"}) == turns({"turns": known}) == known
