"""What each part of Corrective RAG buys, on an organisation of five questions."""

import json
from pathlib import Path
from typing import Any

import pytest

from crag_graph.benchmarks.run import HEAD, answer_hit, current, main, measure, table
from crag_graph.models.chat_extractive import ExtractiveWriter

LEAVE = "# Leave\n\nEvery parent gets 80 days of paid parental leave.\n"
OLD = "# Leave, as it was\n\nEvery parent gets 60 days of paid parental leave.\n"
TRAVEL = "# Travel\n\nTrains are booked in first class on journeys of more than three hours.\n"
PAGE = {
    "url": "https://pages.example/inertia",
    "title": "Moment of inertia",
    "content": "The moment of inertia of a solid sphere is two fifths of its mass times its radius squared.",
}


def question(text: str, **known: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {
        "id": text[:8],
        "question": text,
        "standalone": text,
        "conversation": [],
        "verdict": "correct",
        "answer": "yes",
        "must_contain": [],
        "must_not_contain": [],
        "gold_docs": [],
        "gold_quote": [],
        "gold_web": [],
        "also_ok": [],
        "type": "single_fact",
        "tags": [],
    }
    return usual | known


QUESTIONS = (
    question(
        "How many days of paid parental leave does every parent get?",
        must_contain=["80 days"],
        must_not_contain=["60 days"],
        gold_docs=["docs/leave.md"],
        gold_quote=["Every parent gets 80 days of paid parental leave."],
        type="superseded_version",
        tags=["g:single"],  # it is one of the superseded whatever group it is counted in
    ),
    question(
        "In which class are trains booked on long journeys?",
        must_contain=[["first class", "1st class"]],
        gold_docs=["docs/travel.md"],
        gold_quote=["Trains are booked in first class"],
    ),
    question(
        "What is the moment of inertia of a solid sphere?",
        verdict="incorrect",
        must_contain=["two fifths"],
        gold_web=[PAGE["url"]],
    ),
    question("Who won the chess tournament in Atlantis?", verdict="incorrect", answer=""),
)


@pytest.fixture
def organisation(tmp_path: Path) -> Path:
    folder = tmp_path / "acme"
    (folder / "docs" / "archive").mkdir(parents=True)
    (folder / "web").mkdir()
    (folder / "docs" / "leave.md").write_text(LEAVE)
    (folder / "docs" / "archive" / "leave.md").write_text(OLD)
    (folder / "docs" / "travel.md").write_text(TRAVEL)
    (folder / "web" / "pages.jsonl").write_text(json.dumps(PAGE) + "\n")
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)) + "\n")
    return folder


def cells(table: str, name: str) -> dict[str, str]:
    heads = [head.strip() for head in HEAD.partition("\n")[0].strip("|").split("|")]
    line = next(line for line in table.splitlines() if line.startswith(f"| {name} |"))
    return dict(zip(heads, (cell.strip() for cell in line.strip("|").split("|")), strict=True))


def share(cell: str) -> float:
    """Of a cell such as `0.50 of 4`."""
    return float(cell.partition(" of ")[0])


async def test_each_variant_is_a_row_and_the_web_and_the_judge_show_what_they_buy(organisation: Path) -> None:
    told = table("acme", await measure(organisation, ExtractiveWriter(), cache=None, most=None))
    assert "n 4, 3 of them have an answer" in told
    plain, whole = cells(told, "plain RAG"), cells(told, "Corrective RAG")
    without_web = cells(told, "Corrective RAG without the web")
    assert share(whole["answer hit"]) > share(without_web["answer hit"])
    assert whole["current value quoted"] == "1 of 1"
    assert share(plain["wrong answers"]) > share(whole["wrong answers"])
    assert share(plain["abstains where nothing is known"]) == 0
    assert without_web["abstains where nothing is known"] == "1.00 of 1"


async def test_the_command_writes_the_page_with_the_way_to_make_it_again(organisation: Path, tmp_path: Path) -> None:
    page = tmp_path / "pipeline.md"
    await main(["--data", str(organisation), "--most", "1", "--write", str(page)])
    text = page.read_text()
    assert "python -m crag_graph.benchmarks.run" in text
    assert "### acme (n 1, 1 of them" in text
    assert "### All together (n 1, 1 of them" in text


@pytest.mark.parametrize(
    ("text", "needed", "forbidden", "hit"),
    [
        ("It is 80 days.", ["80 days"], [], True),
        ("It is 180 days.", ["80 days"], [], False),
        ("It costs 1.80 days.", ["80 days"], [], False),
        ("First Class it is.", [["1st class", "first class"]], [], True),
        ("It was 60 days and is 80 days.", ["80 days"], ["60 days"], False),
        ("Anything.", [], [], True),
    ],
)
def test_an_answer_hits_with_all_that_it_must_hold_and_nothing_that_it_must_not(
    text: str, needed: list[Any], forbidden: list[Any], hit: bool
) -> None:
    assert answer_hit(text, needed, forbidden) is hit


def test_a_set_without_any_superseded_document_says_so() -> None:
    assert current([]) == "0 of 0"
