"""Public questions judged by the shipped evaluator, on sets of the test's own in the public sets' form."""

from pathlib import Path

import pytest

from crag_graph.benchmarks.cases import Question, enterprise, pubmedqa, xquad
from crag_graph.benchmarks.readings import read
from crag_graph.benchmarks.transfer import (
    HEAD,
    Judged,
    main,
    other_words,
    paraphrase_row,
    row,
    shares_no_word,
    within_articles,
    within_sets,
)
from crag_graph.domain import Verdict
from crag_graph.evaluators.weights import TRAINED
from crag_graph.models.embed_local import LocalEmbedder
from tests.crag_graph.benchmarks import farm
from tests.fakes.services import ScriptedEvaluator


async def test_the_page_has_a_row_for_each_set_and_half_of_the_answers_are_taken_out(tmp_path: Path) -> None:
    page = tmp_path / "transfer.md"
    data = str(farm.write_farm(tmp_path))
    await main(["--data", data, "--weights", str(TRAINED), "--write", str(page)])
    text = page.read_text()
    assert "| XQuAD, paragraphs of one article | 3 | 0.67 |" in text
    assert "| CLAPNQ, one passage of the right page | 2 | 0.50 |" in text
    assert "| CLAPNQ, one passage of the right page, that half never seen |" in text
    assert "| ARES nq | 2 | 0.50 |" in text
    assert "| PubMedQA | 2 | 0.50 |" in text
    assert "| all three | 3 |" in text


async def test_the_passages_of_an_article_are_its_own_and_every_second_time_lack_the_answer(tmp_path: Path) -> None:
    library = await read(xquad(farm.write_xquad(tmp_path)), LocalEmbedder())
    scores = {farm.GOATS: 0.4, farm.HENS: 0.9, farm.BEES: 0.2}
    judged = await within_articles(library, ScriptedEvaluator(scores=scores))
    assert [(one.enough, one.score, one.page) for one in judged] == [
        (True, 0.9, "Farm"),
        (False, 0.4, "Farm"),
        (True, 0.2, "Bees"),
    ]


async def test_over_a_whole_set_the_passages_of_others_are_there_too(tmp_path: Path) -> None:
    library = await read(pubmedqa(farm.write_pubmedqa(tmp_path)), LocalEmbedder())
    judged = await within_sets(library, ScriptedEvaluator(scores={farm.HENS: 0.9, farm.GOATS: 0.1, farm.BEES: 0.2}))
    assert [(one.enough, one.score) for one in judged] == [(True, 0.9), (False, 0.2)]


async def test_paraphrases_are_the_answered_english_questions_in_words_of_their_own(tmp_path: Path) -> None:
    library = await read(enterprise(farm.write_enterprise(tmp_path)), LocalEmbedder())
    evaluator = ScriptedEvaluator(scores={farm.WAGES: 0.8})
    judged = await other_words(library, evaluator)
    assert evaluator.questions == ["When do wages land?"]
    assert [(one.score, one.said) for one in judged] == [(0.8, Verdict.CORRECT)]


@pytest.mark.parametrize(
    ("text", "none"),
    [("When do wages land?", True), ("When are salaries paid?", False), ("Is it the last of them?", False)],
)
def test_words_are_shared_in_any_form_and_small_words_do_not_count(text: str, none: bool) -> None:
    question = Question(text=text, verdict=Verdict.CORRECT, group="", raw={"gold_quote": [farm.WAGES]})
    assert shares_no_word(question) is none


def test_a_paraphrase_is_lost_when_it_is_called_incorrect() -> None:
    said = (Verdict.CORRECT, Verdict.AMBIGUOUS, Verdict.AMBIGUOUS, Verdict.INCORRECT)
    judged = [Judged(enough=True, score=0.5, said=one) for one in said]
    assert paraphrase_row("farm", judged) == "| farm | 4 | 3 | 1 / 2 / 1 | 0.50 |"
    assert paraphrase_row("none", []) == "| none | 0 | 0 | 0 / 0 / 0 | nan |"


def test_a_row_about_nothing_has_no_numbers() -> None:
    assert row("none", []) == "| none | 0 | nan | nan | nan | nan | 0.000 | nan / nan | nan / nan |"


def test_a_row_tells_what_was_said_of_enough_and_of_not_enough() -> None:
    judged = [
        Judged(enough=True, score=0.9, said=Verdict.CORRECT),
        Judged(enough=True, score=0.5, said=Verdict.AMBIGUOUS),
        Judged(enough=False, score=0.8, said=Verdict.CORRECT),
        Judged(enough=False, score=0.1, said=Verdict.INCORRECT),
    ]
    cells = [cell.strip() for cell in row("farm", judged).strip("|").split("|")]
    assert len(cells) == HEAD.splitlines()[0].count("|") - 1
    assert cells[:6] == ["farm", "4", "0.50", "0.500", "0.750", "0.750"]
    assert cells[7:] == ["0.50 / 0.00", "0.50 / 0.50"]
