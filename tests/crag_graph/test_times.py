import pytest

from crag_graph.times import Times, times_asked_for


@pytest.mark.parametrize(
    "question",
    [
        "What were the old rules?",
        "What did the older handbook say?",
        "Under version 2, how were calls counted?",
        "How was it previously?",
        "What does the superseded policy say?",
    ],
)
def test_some_ask_for_what_was_whenever_that_was(question: str) -> None:
    assert times_asked_for(question).former


@pytest.mark.parametrize(
    ("question", "years"),
    [
        ("What did a desk cost in 2024?", {"2024"}),
        ("Did leave change from 2023 to 2025?", {"2023", "2025"}),
        ("What does a passport cost for people of 24 years and older?", set()),
        ("How old must I be?", set()),
        ("My child is 6 months old: what is it to get?", set()),
        ("Call 20241234 or 1999,5", {"1999"}),
        ("", set()),
    ],
)
def test_others_ask_for_what_holds_or_for_years(question: str, years: set[str]) -> None:
    assert times_asked_for(question) == Times(years=frozenset(years))


@pytest.mark.parametrize(
    ("question", "title", "meant"),
    [
        ("What did a desk cost in 2024?", "Prices 2024 (superseded)", True),
        ("What did a desk cost in 2024?", "Prices 2023 (superseded)", False),
        ("What did a desk cost under the old list of 2024?", "Prices (superseded)", True),
        ("What does a desk cost?", "Prices 2024", False),
    ],
)
def test_what_no_longer_holds_is_meant_where_its_time_is_asked_for(question: str, title: str, *, meant: bool) -> None:
    assert times_asked_for(question).meant(title) is meant
