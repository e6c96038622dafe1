"""A collection that was read is searched as the product searches, and read once."""

from dataclasses import replace
from pathlib import Path

from crag_graph.benchmarks.cases import Collection, Question
from crag_graph.benchmarks.readings import read
from crag_graph.domain import Verdict
from crag_graph.models.embed_local import LocalEmbedder
from tests.fakes.services import passage

FARM = Collection(
    name="farm",
    passages=(
        passage("Hens lay three hundred eggs a year.", title="Hens"),
        replace(passage("Goats give two litres of milk a day.", title="Goats, 1990"), superseded=True),
        passage("Goats give three litres of milk a day.", title="Goats"),
    ),
    questions=(
        Question(text="How much milk does a goat give?", verdict=Verdict.CORRECT, group="single"),
        Question(text="How much milk did a goat give in 1990?", verdict=Verdict.CORRECT, group="single"),
    ),
)


async def test_what_is_superseded_stands_behind_unless_the_question_asks_for_it(tmp_path: Path) -> None:
    library = await read(FARM, LocalEmbedder(), tmp_path)
    now, then = (question.text for question in FARM.questions)
    assert library.search(now)[0] == 2
    assert library.search(then)[0] == 1
    assert library.search(now, limit=1, without=[0, 2]) == [1]


async def test_what_was_read_is_kept_and_new_questions_are_read_beside_it(tmp_path: Path) -> None:
    first = await read(replace(FARM, questions=FARM.questions[:1]), LocalEmbedder(), tmp_path)
    again = await read(FARM, LocalEmbedder(), tmp_path)
    assert set(again.read) > set(first.read)
    assert [len(one.pooled) for one in again.prepared] == [len(one.pooled) for one in first.prepared]
