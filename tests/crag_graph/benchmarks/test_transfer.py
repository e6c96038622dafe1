"""Public questions judged by the shipped evaluator, on sets of the test's own in the public sets' form."""

import json
from pathlib import Path

import pytest

from crag_graph.benchmarks.cases import clapnq, xquad
from crag_graph.benchmarks.transfer import HEAD, Judged, main, row
from crag_graph.domain import Verdict

GOATS = "Goats give about three litres of milk a day. They do so for ten months after a kid was born."
HENS = "Hens lay about three hundred eggs a year. In winter they lay fewer, because the days are short."


@pytest.fixture
def data(tmp_path: Path) -> Path:
    answers = (
        (GOATS, "How much milk does a goat give a day?", "three litres"),
        (HENS, "How many eggs?", "three hundred"),
    )
    paragraphs = [
        {
            "context": text,
            "qas": [{"question": question, "answers": [{"text": span, "answer_start": text.index(span)}]}],
        }
        for text, question, span in answers
    ]
    (tmp_path / "xquad").mkdir()
    (tmp_path / "clapnq").mkdir()
    article = {"data": [{"title": "Farm", "paragraphs": paragraphs}]}
    (tmp_path / "xquad" / "xquad.en.first24articles.json").write_text(json.dumps(article))
    for kind, text, sentences in (
        ("answerable", GOATS, [GOATS.split(". ", maxsplit=1)[0] + "."]),
        ("unanswerable", HENS, []),
    ):
        asked = {
            "input": "How much milk does a goat give a day?",
            "passages": [{"title": "Farm", "text": text}],
            "output": [{"selected_sentences": sentences}],
        }
        (tmp_path / "clapnq" / f"clapnq_dev_{kind}_first150.jsonl").write_text(json.dumps(asked) + "\n")
    return tmp_path


def test_public_sets_are_read_with_where_the_answer_stands(data: Path) -> None:
    farm = xquad(data / "xquad")
    assert [farm.passages[one.evidence[0].passage].text for one in farm.questions] == [GOATS, HENS]
    span = farm.questions[0].evidence[0]
    assert GOATS[span.start : span.end] == "three litres"
    pages = clapnq(data / "clapnq")
    assert [one.verdict for one in pages.questions] == [Verdict.CORRECT, Verdict.INCORRECT]
    assert [len(one.evidence) for one in pages.questions] == [1, 0]


async def test_the_page_has_a_row_for_each_set_and_half_of_the_answers_are_taken_out(
    data: Path, tmp_path: Path
) -> None:
    page = tmp_path / "transfer.md"
    await main(["--data", str(data), "--write", str(page)])
    text = page.read_text()
    assert "| XQuAD, paragraphs of one article | 2 | 0.50 |" in text
    assert "| CLAPNQ, one passage of the right page | 2 | 0.50 |" in text


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
