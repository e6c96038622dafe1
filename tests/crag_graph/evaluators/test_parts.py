"""The parts of a question, by rules."""

import pytest

from crag_graph.evaluators.parts import MOST, parts, term


@pytest.mark.parametrize(
    "question",
    [
        "How many days of parental leave do I get?",
        "Which forms and receipts does the travel desk need?",
        "Who signs if my manager is away?",
        "I caught the flu. When must I call?",
        "Around Easter, which days are off?",
        "E4012??",
        "terms and conditions",
        "",
        "?!",
    ],
)
def test_a_question_that_asks_one_thing_is_its_only_part(question: str) -> None:
    assert parts(question) == (question.strip(),)


def test_two_questions_are_two_parts() -> None:
    first, second = parts("How long is the warranty? Who pays the shipping?")
    assert first == "How long is the warranty"
    assert second.startswith("Who pays the shipping")


def test_questions_joined_by_and_are_parted() -> None:
    assert parts("When does the bus leave, and what does a ticket cost?")[1].startswith("what does a ticket cost")


def test_a_part_without_a_subject_gets_that_of_the_first() -> None:
    assert parts("Who leads Hollin Works and how old is it?") == (
        "Who leads Hollin Works",
        "how old is it (Hollin Works)",
    )


def test_a_lead_goes_before_each_part() -> None:
    both = parts("Offsite: which hotel is it and when does it begin?")
    assert len(both) == 2
    assert all(part.startswith("Offsite: ") for part in both)


def test_a_comparison_has_a_part_for_each_side() -> None:
    assert parts("How does batch normalisation compare with layer normalisation?") == (
        "How does batch normalisation",
        "layer normalisation",
    )
    assert len(parts("Is our plan cheaper than the one of Larkpost?")) == 2


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("Wie lange gilt der Ausweis und was kostet er?", "was kostet er"),
        ("Combien coûte le billet et quand part le bus ?", "quand part le bus"),
        ("¿Cuánto cuesta la entrada y cuándo abre el museo?", "cuándo abre el museo"),
    ],
)
def test_other_languages_are_parted_too(question: str, second: str) -> None:
    assert parts(question)[1].startswith(second)


def test_there_are_never_more_parts_than_are_looked_at() -> None:
    assert len(parts(" and ".join(f"what does item {number} cost" for number in range(50)) + "?")) == MOST


@pytest.mark.parametrize(
    "question", ["a and " * 5_000, "?" * 10_000, "who and what " * 2_000, "x: " * 3_000, "\x00 and \ud800"]
)
def test_hostile_questions_are_parted_quickly(question: str) -> None:
    assert 1 <= len(parts(question)) <= MOST


def test_what_something_is_asks_for_its_term() -> None:
    assert term("What is gradient descent?", compared=False) == ("gradient", "descent")
    assert term("layer normalisation", compared=True) == ("layer", "normalis")


@pytest.mark.parametrize(
    "part", ["What is the price of gold?", "vacation days", "How many days of leave do I get?", ""]
)
def test_a_value_is_no_term(part: str) -> None:
    assert term(part, compared=False) == ()
