import json
from pathlib import Path

import pytest

from bot.cli.calibrate import fit
from bot.cli.errors import UseError
from bot.settings import Settings, SettingsError, read
from bot.wiring import open_product

DISHES = ("soup", "bread", "cheese", "rice", "fish", "beans", "salad", "pasta", "cake", "tea")


def cases(folder: Path, count: int) -> Path:
    """Questions that their passage answers, or not, one by one."""
    file = folder / "cases.jsonl"
    rows = []
    for number in range(count):
        dish, other = DISHES[number % 10], DISHES[(number + 3) % 10]
        asked = dish if number % 2 else f"{other} with salt"
        passage = {"text": f"The canteen sells {dish} for {number} pounds on Monday.", "title": "Canteen"}
        verdict = "correct" if number % 2 else "incorrect"
        rows.append({"question": f"What does {asked} cost on Monday?", "verdict": verdict, "passages": [passage]})
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


async def test_what_would_change_is_told_and_only_applied_when_asked(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = settings.data_dir / "calibration.json"
    assert await fit(settings, cases(tmp_path, 40), apply=False) == 0
    assert "right verdicts" in capsys.readouterr().out
    assert not file.exists()
    await fit(settings, cases(tmp_path, 40), apply=True)
    assert "CRAG_UPPER=" in capsys.readouterr().out
    assert set(json.loads(file.read_text())) == {"slope", "shift"}


async def test_too_few_cases_and_labels_are_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UseError, match="too few"):
        await fit(settings, cases(tmp_path, 4), apply=False)
    judged = read({"CRAG_EVALUATOR": "llm", "OPENAI_API_KEY": "sk-1"}, None)
    with pytest.raises(UseError, match="nothing to calibrate"):
        await fit(judged, cases(tmp_path, 40), apply=False)


async def test_a_calibration_that_cannot_be_read_stops_the_start(settings: Settings) -> None:
    settings.data_dir.mkdir()
    (settings.data_dir / "calibration.json").write_text("{}")
    with pytest.raises(SettingsError, match="crag calibrate"):
        async with open_product(settings):
            pass
