import pytest

from crag_graph.models.ranges import amounts, lies_within


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("Who signs an order of 10,000 crowns?", {10_000}),
        ("Who signs an order of 10 000 crowns?", {10_000}),
        ("May I spend 12.50 or 1.500?", {12.5, 1_500}),
        ("What was decided in 2024?", set()),
        ("What about F-101, 3/4, 10:30 and v2?", set()),
        ("What?", set()),
    ],
)
def test_a_question_names_amounts(question: str, numbers: set[float]) -> None:
    assert amounts(question) == numbers


@pytest.mark.parametrize(
    ("text", "within"),
    [
        ("Value: 1,500 to 12,000; Signs: head of section", True),
        ("Value: 12,000 to 90,000; Signs: treasurer", False),
        ("Value: 9.000–11.000", True),
        ("Value: up to 1,500; Signs: team leader", False),
        ("Value: up to 15,000", True),
        ("Value: above 90,000; Signs: mayor", False),
        ("Value: more than 5,000", True),
        ("Value: über 5.000", True),
        ("Value: 10,000", None),
        ("No number at all", None),
    ],
)
def test_an_amount_lies_in_a_range_or_beside_it(text: str, within: bool | None) -> None:
    assert lies_within(text, frozenset({10_000.0})) is within
    assert lies_within(text, frozenset()) is None


@pytest.mark.timeout(5)
@pytest.mark.parametrize("piece", ["1,000", "1 ", "1.", "1 to ", "up to ", "9" * 50])
def test_endless_numbers_are_no_endless_work(piece: str) -> None:
    lies_within(piece * 2_000, amounts(piece * 2_000) | {5.0})
