import pytest

from crag_graph.models.gist import asks_for_gist


@pytest.mark.parametrize(
    "question",
    [
        "summarise this",
        "Please summarize the attached report in three bullet points.",
        "TL;DR?",
        "tldr please",
        "Can you give me a short overview of these files?",
        "What is this about?",
        "what's it about",
        "What does it say?",
        "What does the document say?",
        "Summarise plan.md and bill.md",
        "Fasse das bitte kurz zusammen",
        "Bitte eine Zusammenfassung der Datei!",
        "Worum geht es hier?",
        "Résume ce document en trois phrases",
        "De quoi s'agit-il ?",
        "Resume este archivo, por favor",
        "¿De qué trata?",
        "Faz um resumo do anexo",
        "これを要約して",
    ],
)
def test_a_question_about_a_text_as_a_whole_is_one(question: str) -> None:
    assert asks_for_gist(question, ["plan.md", "bill.md"])


@pytest.mark.parametrize(
    "question",
    [
        "",
        "How many days of leave do I get?",
        "Summarise what it says about prices",
        "Give me an overview of the travel policy",
        "What is the notice period?",
        "What does the contract say about termination?",
        "Fasse die Regeln für Reisen zusammen",
        "Résume la politique de voyage",
        "契約の解約条件と違約金の計算方法について要約してください",
    ],
)
def test_a_question_about_something_in_it_is_none(question: str) -> None:
    assert not asks_for_gist(question)
