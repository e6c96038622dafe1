"""Reviewed cases, run again over an installation."""

import json
from pathlib import Path

import pytest

from bot.cli.errors import UseError
from bot.cli.measure import replay_file
from bot.settings import Settings, read

LEAVE = {"title": "Leave", "text": "Every parent gets 80 days of paid parental leave."}
CASES = (
    ("How many days of parental leave does a parent get?", "correct"),
    ("Who repairs the coffee machine?", "incorrect"),
    ("How many days of parental leave are paid?", "ambiguous"),
)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    file = tmp_path / "cases.jsonl"
    rows = [{"question": question, "verdict": verdict, "passages": [LEAVE]} for question, verdict in CASES]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


async def test_a_run_is_compared_with_the_one_before_and_changed_verdicts_are_named(
    settings: Settings, cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await replay_file(settings, cases) == 0
    assert "| right verdicts |  | 0.667 |" in capsys.readouterr().out
    stricter = read(
        {
            "DATABASE_URL": settings.database_url.get_secret_value() if settings.database_url else "",
            "CRAG_DATA_DIR": str(settings.data_dir),
            "CRAG_UPPER": "1",
        },
        None,
    )
    assert await replay_file(stricter, cases) == 0
    told = capsys.readouterr().out
    assert "| right verdicts | 0.667 |" in told
    assert f"| {CASES[0][0]} | correct | correct | ambiguous |" in told


async def test_a_file_without_cases_or_with_something_else_is_refused(settings: Settings, tmp_path: Path) -> None:
    empty, other = tmp_path / "empty.jsonl", tmp_path / "other.jsonl"
    empty.write_text("")
    other.write_text('{"question": 1}\n')
    with pytest.raises(UseError, match="none"):
        await replay_file(settings, empty)
    with pytest.raises(UseError, match="Line 1"):
        await replay_file(settings, other)
