"""Labelled questions as they are read from the public and the enterprise sets' own files."""

import json
from pathlib import Path

from crag_graph.benchmarks.cases import Collection, ares, clapnq, enterprise, own, pubmedqa, xquad
from crag_graph.domain import Verdict
from tests.crag_graph.benchmarks import farm
from tests.crag_graph.benchmarks.zoo import LIBRARY


def held(collection: Collection, number: int) -> list[str]:
    """What the evidence of a question says."""
    return [collection.passages[one.passage].text[one.start : one.end] for one in collection.questions[number].evidence]


def test_xquad_keeps_where_each_answer_stands_and_of_which_article(tmp_path: Path) -> None:
    read = xquad(farm.write_xquad(tmp_path))
    assert [passage.text for passage in read.passages] == [farm.GOATS, farm.HENS, farm.BEES]
    assert [held(read, number) for number in range(3)] == [["three litres"], ["three hundred"], ["forty kilos"]]
    assert [question.group for question in read.questions] == ["Farm", "Farm", "Bees"]
    assert {question.verdict for question in read.questions} == {Verdict.CORRECT}


def test_an_article_without_a_title_is_told_by_how_it_begins(tmp_path: Path) -> None:
    file = farm.write_xquad(tmp_path) / "xquad.en.first24articles.json"
    data = json.loads(file.read_text())
    del data["data"][1]["title"]
    file.write_text(json.dumps(data))
    assert xquad(tmp_path).questions[2].group == farm.BEES[:40]


def test_clapnq_marks_the_sentences_that_are_found_and_no_others(tmp_path: Path) -> None:
    read = clapnq(farm.write_clapnq(tmp_path))
    assert [question.verdict for question in read.questions] == [Verdict.CORRECT, Verdict.INCORRECT]
    assert held(read, 0) == ["Goats give about three litres of milk a day."]
    assert held(read, 1) == []
    assert [question.raw for question in read.questions] == [0, 1]
    assert {passage.title for passage in read.passages} == {"Goat"}


def test_ares_keeps_questions_whose_answer_is_right_and_found_in_its_text(tmp_path: Path) -> None:
    read = ares(farm.write_ares(tmp_path), "nq")
    assert [question.text for question in read.questions] == ["How much milk?", "How many eggs?"]
    assert [held(read, number) for number in range(2)] == [["three litres"], ["three hundred"]]
    assert [passage.text for passage in read.passages] == [farm.GOATS, farm.HENS]


def test_no_more_questions_are_read_of_ares_than_asked_for(tmp_path: Path) -> None:
    assert len(ares(farm.write_ares(tmp_path), "nq", most=1).questions) == 1


def test_pubmedqa_answers_with_every_section_of_the_own_abstract(tmp_path: Path) -> None:
    read = pubmedqa(farm.write_pubmedqa(tmp_path))
    assert [held(read, number) for number in range(2)] == [[farm.GOATS, farm.BEES], [farm.HENS]]
    assert [passage.title for passage in read.passages] == ["AIMS", "RESULTS", "RESULTS"]
    assert len(pubmedqa(tmp_path, most=1).passages) == 2


def test_an_organisations_questions_point_at_the_strips_that_hold_their_quotes(tmp_path: Path) -> None:
    read = enterprise(farm.write_enterprise(tmp_path / "farm"))
    assert read.name == "farm"
    assert [question.group for question in read.questions] == [
        "single",
        "paraphrase",
        "multilingual",
        "unanswerable_far",
    ]
    assert farm.LEAVE in held(read, 0)[0]
    assert farm.WAGES in held(read, 1)[0]
    assert held(read, 3) == []
    documents = {read.passages[one.passage].document for one in read.questions[0].evidence}
    assert documents == {"docs/leave-2025.md"}


def test_traits_name_the_group_before_tags_do(tmp_path: Path) -> None:
    farm.write_enterprise(tmp_path)
    (tmp_path / "traits.json").write_text(json.dumps({"q1": {"group": "multi"}}))
    assert enterprise(tmp_path).questions[0].group == "multi"


def test_an_older_edition_knows_the_newer_one(tmp_path: Path) -> None:
    newer = {passage.title: passage.newer for passage in enterprise(farm.write_enterprise(tmp_path)).passages}
    assert newer == {"Handbook 2019": "Handbook 2025", "Handbook 2025": ""}


def test_a_question_of_our_own_that_nothing_answers_has_no_evidence(tmp_path: Path) -> None:
    file = tmp_path / "zoo.txt"
    file.write_text(LIBRARY, encoding="utf-8")
    read = own(file)
    unanswered = [question for question in read.questions if question.verdict is Verdict.INCORRECT]
    assert {(question.group, question.evidence) for question in unanswered} == {("near", ())}
    assert "27 days" in held(read, 0)[0]
