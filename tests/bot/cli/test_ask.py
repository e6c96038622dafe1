import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli.ask import ask
from bot.cli.errors import UseError
from bot.cli.forget import forget
from bot.cli.ingest import ingest
from bot.questions import QuestionError
from bot.settings import Settings

KEYS = [
    "question",
    "standalone_question",
    "verdict",
    "reason",
    "answer",
    "abstained",
    "citations",
    "web_query",
    "passages",
    "strips",
    "model_calls",
    "timings_ms",
    "trace_id",
]


@pytest.fixture
async def library(settings: Settings, handbook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await ingest(settings, [str(handbook)], space=None, as_json=False)
    capsys.readouterr()


async def asked(settings: Settings, capsys: pytest.CaptureFixture[str], text: str, **options: Any) -> dict[str, Any]:
    chosen: dict[str, Any] = {"conversation": None, "space": None, "file": None, "as_json": True} | options
    assert await ask(settings, text, **chosen) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


@pytest.mark.usefixtures("library")
async def test_json_has_exactly_the_agreed_fields(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    answer = await asked(settings, capsys, "How many days of parental leave does a parent get?")
    assert list(answer) == KEYS
    assert (answer["verdict"], answer["abstained"], answer["model_calls"]) == ("correct", False, 0)
    assert "80 days" in answer["answer"]
    assert set(answer["citations"][0]) == {"mark", "kind", "title", "source", "location", "quote"}
    assert set(answer["passages"][0]) == {"source", "title", "location", "score", "reason", "kept"}
    assert answer["strips"]["kept"] >= 1
    assert list(answer["timings_ms"])[:3] == ["contextualize", "retrieve", "evaluate"]


@pytest.mark.usefixtures("library")
async def test_a_named_conversation_goes_on_until_it_is_forgotten(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    await asked(settings, capsys, "How many days of parental leave does a parent get?", conversation="ann")
    second = await asked(settings, capsys, "And how is it paid?", conversation="ann")
    assert "leave" in second["standalone_question"]
    assert await forget(settings, "ann") == 0
    assert "2 traces" in capsys.readouterr().out
    third = await asked(settings, capsys, "And how is it paid?", conversation="ann")
    assert "leave" not in third["standalone_question"]
    with pytest.raises(UseError, match="no conversation"):
        await forget(settings, "bob")


@pytest.mark.usefixtures("library")
async def test_people_read_the_answer_with_its_numbered_sources(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "How many days of parental leave does a parent get?"
    assert await ask(settings, text, conversation=None, space=None, file=None, as_json=False) == 0
    shown = capsys.readouterr().out
    for part in ("80 days", "[1] Leave", "leave.md", "correct", "trace "):
        assert part in shown


@pytest.mark.usefixtures("library")
async def test_a_file_is_answered_line_by_line_in_order_and_a_bad_line_stops_nobody(
    settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    history = [
        {"role": "user", "content": "How many days of parental leave does a parent get?"},
        {"role": "assistant", "content": "80 days."},
    ]
    lines = [
        {"question": "How many days of parental leave does a parent get?"},
        {"question": ""},
        "not json",
        {"question": "x" * 40_000},
        {"question": "And how is it paid?", "history": history},
        {"question": "In which class are trains booked?", "conversation": "bob"},
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines), "utf-8")
    assert await ask(settings, None, conversation=None, space=None, file=file, as_json=True) == 1
    results = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    assert len(results) == 6
    assert [result.get("line") for result in results] == [None, 2, 3, 4, None, None]
    assert "empty" in results[1]["error"]
    assert "leave" in results[4]["standalone_question"]
    assert "first class" in results[5]["answer"]


async def test_one_question_or_a_file_but_not_both_or_neither(settings: Settings, tmp_path: Path) -> None:
    for text, file in ((None, None), ("x", tmp_path / "f")):
        with pytest.raises(UseError, match="Give one question"):
            await ask(settings, text, conversation=None, space=None, file=file, as_json=True)


@pytest.mark.parametrize("text", ["", "  \x00", "x" * 40_000])
async def test_a_question_that_cannot_be_asked_is_refused_before_anything_is_opened(tmp_path: Path, text: str) -> None:
    nowhere = Settings(data_dir=tmp_path / "data")
    with pytest.raises(QuestionError):
        await ask(nowhere, text, conversation=None, space=None, file=None, as_json=True)
    assert not (tmp_path / "data").exists()
