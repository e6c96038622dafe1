import json
from pathlib import Path

import numpy as np
import pytest

from crag_graph.benchmarks.rewriting import CaseSet, Index, conversation, fused, measure, mtrag, report, rewritten
from crag_graph.models.chat_extractive import ExtractiveWriter
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.services import ModelBusyError, Standalone

TASKS = [
    {
        "input": [
            {"speaker": "user", "text": "How much milk does a goat give?"},
            {"speaker": "agent", "text": "About three litres a day."},
            {"speaker": "user", "text": "And for how many months does it do that?"},
        ],
        "contexts": [{"document_id": "goats", "text": "A goat gives milk for ten months after kidding."}],
    },
    {
        "input": [{"speaker": "user", "text": "How long do hens lay?"}],
        "contexts": [{"document_id": "hens", "text": "Hens lay well for two years."}],
    },
    {
        "input": [
            {"speaker": "user", "text": "Do ducks swim?"},
            {"speaker": "agent", "text": "Yes."},
            {"speaker": "user", "text": "Do pigs fly?"},
        ],
        "contexts": [],
    },
]


@pytest.fixture
def cases(tmp_path: Path) -> CaseSet:
    lines = "\n".join(json.dumps(task) for task in TASKS)
    (tmp_path / "reference_first250.jsonl").write_text(lines, encoding="utf-8")
    return mtrag(tmp_path)


def test_only_follow_ups_with_an_answer_in_the_collection_are_cases(cases: CaseSet) -> None:
    assert [case.question for case in cases.cases] == ["And for how many months does it do that?"]
    assert {name for name, _ in cases.passages} == {"goats", "hens"}
    assert cases.cases[0].needed == {"goats"}


def test_messages_become_turns_and_two_answers_in_a_row_one() -> None:
    talk = conversation([(True, "Milk?"), (False, "Three litres."), (False, "A day."), (True, "Thanks!")])
    assert [(turn["question"], turn["answer"]) for turn in talk.turns] == [
        ("Milk?", "Three litres. A day."),
        ("Thanks!", ""),
    ]


def test_words_find_the_passage_that_has_them_and_ranks_are_fused() -> None:
    index = Index([("goats", "goats give milk"), ("hens", "hens lay eggs")], np.eye(2, dtype=np.float32))
    assert index.by_words("who lays eggs").argmax() == 1
    assert index.by_words("nothing in common").max() == 0
    both = fused(index.by_words("eggs of hens"), index.by_meaning(np.array([0.0, 1.0], dtype=np.float32)))
    assert both.argmax() == 1
    assert index.recall(frozenset({"goats", "pigs"}), both) == 0.5


async def test_the_table_has_a_row_for_each_spelling_of_the_question(cases: CaseSet) -> None:
    rows = await measure(cases, {"rules": ExtractiveWriter()}, LocalEmbedder())
    assert [row.split(" | ")[1] for row in rows] == ["as asked", "all that the asker said", "rules"]
    assert rows[0].endswith("| 0 |")
    assert rows[2].endswith("| 1 |")
    assert "rules" in report("\n".join(rows), [])


async def test_a_model_that_fails_leaves_the_question_as_asked(cases: CaseSet) -> None:
    class Away(ExtractiveWriter):
        async def contextualize(self, *_: object, **__: object) -> Standalone:
            raise ModelBusyError("HTTP 500.")

    assert await rewritten(Away(), cases.cases[0]) == cases.cases[0].question
