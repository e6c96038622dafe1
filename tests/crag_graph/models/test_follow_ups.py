import pytest

from crag_graph.domain import Conversation, Turn
from crag_graph.models.follow_ups import standalone


def after(*turns: tuple[str, str]) -> Conversation:
    remembered: list[Turn] = []
    for question, answer in turns:
        alone = standalone(question, Conversation(turns=tuple(remembered)))
        remembered.append(Turn(question=question, standalone=alone, answer=answer, sources=[]))
    return Conversation(turns=tuple(remembered))


PARENTAL = ("How many days of parental leave do I get?", "Every parent has 60 days of parental leave. [1]")


def test_the_first_follow_up_already_uses_the_first_turn() -> None:
    assert standalone("And for adoption?", after(PARENTAL)) == "How many days of parental leave do I get for adoption?"


@pytest.mark.parametrize(
    ("before", "question", "alone"),
    [
        ("How long is the warranty on a Heron pump?", "and the Otter?", "How long is the warranty on the Otter?"),
        ("How fast must a SEV1 be acknowledged?", "and sev2?", "How fast must a sev2 be acknowledged?"),
        (
            "how long do we keep the nightly backups?",
            "what about the monthly ones",
            "how long do we keep the monthly backups?",
        ),
        ("What changed in release 8.4?", "And in 8.5?", "What changed in release 8.5?"),
        ("What is the hotel limit for Lisbon?", "and for Oslo?", "What is the hotel limit for Oslo?"),
        ("What did a permit cost in 2024?", "and 2023?", "What did a permit cost in 2023?"),
        ("What is the limit for 2 nights?", "and for 3 people?", "What is the limit for 3 people?"),
        ("What does a passport cost?", "And for children?", "What does a passport cost for children?"),
    ],
)
def test_a_fragment_changes_the_question_before_in_one_place(before: str, question: str, alone: str) -> None:
    assert standalone(question, after((before, "It depends. [1]"))) == alone


@pytest.mark.parametrize(
    ("before", "question", "topics"),
    [
        ("How much does the electric car cost?", "What about a service?", {"electric", "car"}),
        ("Which port does the vpn use?", "what if that is blocked in my hotel?", {"port", "vpn"}),
        ("How is the sourdough bread made?", "how long must it rest?", {"sourdough", "bread"}),
        ("Can I lease a bike?", "who approves that?", {"lease", "bike"}),
        ("What is the daily allowance in Spain?", "is it taxed", {"daily", "allowance", "Spain"}),
        ("How quick is the Orbital connector?", "is Mailhaven slower?", {"quick", "connector"}),
        ("Who pays for the offsite?", "why?", {"pays", "offsite"}),
        ("How do I reset the door badge?", "ok thanks. and how do I get a new one?", {"reset", "door", "badge"}),
        ("Welche Kündigungsfrist gilt in Wien?", "Und wer unterschreibt dafür?", {"Kündigungsfrist", "Wien"}),
        ("Quelle est la durée de la garantie du vélo ?", "et pour la batterie ?", {"garantie", "vélo"}),
        ("¿Cuánto cuesta el abono de transporte?", "¿y eso lo paga la empresa?", {"abono", "transporte"}),
        ("Quanto custa o passe de ônibus?", "e para estudantes?", {"passe", "ônibus"}),
        ("育児休暇は何日ですか？", "それは有給ですか？", {"育児休暇は何日ですか"}),
    ],
)
def test_a_follow_up_gets_the_topic_that_it_leaves_unsaid(before: str, question: str, topics: set[str]) -> None:
    alone = standalone(question, after((before, "It depends. [1]")))
    assert all(topic in alone for topic in topics), alone
    assert question.rstrip("?？ ").split()[-1] in alone


@pytest.mark.parametrize(
    "question",
    [
        "What is gradient descent?",
        "How do I reset my password if I forgot it?",
        "Is it possible to carry days over into next year?",
        "And who was Edwin Hubble?",
        "Is there a canteen in the Lisbon office?",
        "What is a VPN and how do I install it?",
        "Is it true that badges expire after a year?",
        "Which desks does the company buy this year?",
        "How does batch normalisation compare with layer normalisation?",
        "What is the form that I need for travel?",
        "Wie hoch ist die Pauschale für Auslandsreisen?",
        "Quel est le prix du parking à Lisbonne ?",
        "parental leave policy",
        "E4012??",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(question: str) -> None:
    assert standalone(question, after(PARENTAL)) == question


def test_a_new_topic_takes_nothing_along_and_is_what_the_next_follow_up_is_about() -> None:
    talk = after(PARENTAL, ("And for adoption?", "40 days. [1]"), ("What does a standing desk cost?", "540 EUR. [1]"))
    alone = standalone("and how long does it take to arrive?", talk)
    assert "desk" in alone
    assert "leave" not in alone


def test_a_chain_of_follow_ups_keeps_its_subject() -> None:
    talk = after(("Who makes the Breakwater client?", "Larkfield. [1]"), ("is it free?", "Yes. [1]"))
    alone = standalone("and does it run on a Mac?", talk)
    assert "Breakwater" in alone


def test_thanks_between_two_questions_do_not_hide_the_topic() -> None:
    talk = after(("What does a standing desk cost?", "540 EUR. [1]"), ("thanks!", "You are welcome."))
    assert "desk" in standalone("how long does it take to arrive?", talk)


@pytest.mark.parametrize(
    ("answer", "question", "named"),
    [
        ("You can take the Falcon 13 [1] or the Falcon 15 [1].", "how heavy is the second one?", "Falcon 15"),
        ("- The small van [1]\n- The estate car [1]\n- The bus [2]", "what does the first one cost?", "small van"),
        ("1. Blue badge [1]\n2. Red badge [1]", "who gets the last one?", "Red badge"),
    ],
)
def test_the_second_one_is_what_the_answer_listed_second(answer: str, question: str, named: str) -> None:
    alone = standalone(question, after(("Which ones can I choose from?", answer)))
    assert named in alone
    assert "one" not in alone.split()


def test_a_name_that_the_answer_gave_is_what_they_stands_for() -> None:
    talk = after(("Who sends our text messages?", "Brindle SMS, since 2024. [1]"))
    assert "Brindle" in standalone("what do they charge for one?", talk)


def test_what_people_said_counts_only_where_nothing_was_asked_yet() -> None:
    said = ("Ana: the coffee machine on floor two is broken again",)
    assert "coffee machine" in standalone("who repairs it?", Conversation(chatter=said))
    assert "coffee" not in standalone("is it paid?", Conversation(turns=after(PARENTAL).turns, chatter=said))


@pytest.mark.parametrize("question", ["", "?", "it", "\0", "and", "a " * 5000, "that? " * 300])
def test_odd_questions_do_no_harm(question: str) -> None:
    assert isinstance(standalone(question, after(PARENTAL)), str)


def test_without_a_conversation_nothing_changes() -> None:
    assert standalone("and for adoption?", Conversation()) == "and for adoption?"
