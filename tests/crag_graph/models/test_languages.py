"""The language of a short text: guessed where a list of words is to be chosen, told where somebody is answered."""

import pytest

from crag_graph.models.languages import guess, recognise

TOLD = [
    ("How many days of parental leave do I get?", "en"),
    ("Wie viele Tage Elternzeit bekomme ich?", "de"),
    ("Combien de jours de congé parental ai-je ?", "fr"),
    ("¿Cuántos días de permiso parental tengo?", "es"),
    ("Quantos dias de licença parental eu tenho?", "pt"),
    ("育児休暇は何日ですか。", "ja"),
]


@pytest.mark.parametrize(("text", "language"), TOLD)
def test_a_question_tells_its_language(text: str, language: str) -> None:
    assert recognise(text) == guess(text) == language


@pytest.mark.parametrize("text", ["", "16?", "Kubernetes", "育児休暇日数", "no", "VPN 2025"])
def test_what_could_be_of_several_languages_tells_nothing(text: str) -> None:
    assert recognise(text) == ""
