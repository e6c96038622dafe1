"""`crag forget --user`, `crag export` and `crag team erase`, on questions that a terminal has asked."""

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.cli.ask import ask
from bot.cli.errors import UseError, explained
from bot.cli.export import export
from bot.cli.forget import erase_team, forget
from bot.erasing.eraser import WhoError
from bot.settings import Settings
from bot.wiring import open_database


async def asked_in_slack(settings: Settings) -> None:
    """One question, as if Ada (U1 of T1) had asked it there."""
    await ask(settings, "What is a pelican?", conversation="T1:C1:1", space=None, file=None, as_json=True)
    async with open_database(settings) as database, database.engine.begin() as connection:
        await connection.execute(text("UPDATE runs SET team = 'T1', asker = 'U1'"))


async def test_a_person_is_exported_and_then_forgotten_with_counts(
    settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    await asked_in_slack(settings)
    file = tmp_path / "ada.json"
    assert await export(settings, "U1", output=file) == 0
    exported = json.loads(file.read_text("utf-8"))
    assert [question["question"] for question in exported["questions"]] == ["What is a pelican?"]
    assert file.stat().st_mode & 0o077 == 0
    capsys.readouterr()

    assert await forget(settings, None, user="U1", team="T2") == 0
    assert "nothing stored of U1" in capsys.readouterr().out
    assert await forget(settings, None, user="U1", as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == {
        "user": "U1",
        "team": None,
        "erased": {"conversations": 1, "questions": 1},
    }
    assert await export(settings, "U1") == 0
    assert json.loads(capsys.readouterr().out)["questions"] == []


async def test_a_team_goes_after_a_question_or_with_yes(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    await asked_in_slack(settings)
    capsys.readouterr()
    assert await erase_team(settings, "T1", yes=False, as_json=False, confirm=lambda _: False) == 1
    assert "Nothing was erased" in capsys.readouterr().out
    assert await erase_team(settings, "T1", yes=True, as_json=False) == 0
    shown = capsys.readouterr().out
    assert "1  conversations" in shown
    assert "space “workspace”" in shown
    assert await erase_team(settings, "T1", yes=True, as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == {"team": "T1", "erased": {}}


async def test_who_is_meant_has_to_be_said(settings: Settings) -> None:
    with pytest.raises(UseError, match="--user"):
        await forget(settings, None)
    with pytest.raises(UseError, match="--user"):
        await forget(settings, "ann", user="U1")
    for nobody in (
        forget(settings, None, user=" "),
        export(settings, " "),
        erase_team(settings, "", yes=True, as_json=True),
    ):
        with pytest.raises(WhoError) as raised:
            await nobody
        assert explained(raised.value) == (2, "The person or the team has no name.")
