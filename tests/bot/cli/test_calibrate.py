import json
from pathlib import Path

import pytest
from PIL import Image, ImageColor

from bot.cli.calibrate import fit, undo
from bot.cli.errors import UseError
from bot.settings import Settings, SettingsError, read
from bot.wiring import open_product, thresholds
from crag_graph.benchmarks.picture import AFTER, BEFORE
from crag_graph.benchmarks.quality import Costs
from crag_graph.evaluators.calibration import load_fit
from crag_graph.verdict import Thresholds

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
    assert await fitted(settings, cases(tmp_path, 40)) == 0
    told = capsys.readouterr().out
    assert "right verdicts" in told
    assert "is \\ said" in told
    assert not file.exists()
    await fitted(settings, cases(tmp_path, 40), apply=True)
    assert "--undo" in capsys.readouterr().out
    stored = json.loads(file.read_text())
    assert thresholds(settings) == Thresholds(**stored["thresholds"])
    assert await undo(settings) == 0
    assert thresholds(settings) == Thresholds()
    with pytest.raises(UseError, match="nothing to take back"):
        await undo(settings)


async def test_thresholds_set_by_hand_count_before_fitted_ones(settings: Settings, tmp_path: Path) -> None:
    await fitted(settings, cases(tmp_path, 40), apply=True)
    by_hand = read({"CRAG_DATA_DIR": str(settings.data_dir), "CRAG_UPPER": "0.9"}, None)
    assert thresholds(by_hand) == Thresholds(upper=0.9, lower=0.3)


async def test_a_second_fit_starts_from_the_first(settings: Settings, tmp_path: Path) -> None:
    file = settings.data_dir / "calibration.json"
    await fitted(settings, cases(tmp_path, 60), apply=True)
    first = load_fit(file)
    await fitted(settings, cases(tmp_path, 60), apply=True)
    assert load_fit(settings.data_dir / "calibration.1.json") == first


async def test_the_reliability_curve_is_a_picture(settings: Settings, tmp_path: Path) -> None:
    picture = tmp_path / "curve.png"
    await fitted(settings, cases(tmp_path, 40), picture=picture)
    with Image.open(picture) as drawn:
        assert (drawn.format, drawn.size) == ("PNG", (600, 600))
        colours = {colour for _, colour in drawn.getcolors(10_000) or ()}
    assert {ImageColor.getrgb(BEFORE), ImageColor.getrgb(AFTER)} <= colours


async def fitted(settings: Settings, file: Path, *, apply: bool = False, picture: Path | None = None) -> int:
    return await fit(settings, file, costs=Costs(), apply=apply, picture=picture)


async def test_too_few_cases_and_labels_are_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UseError, match="too few"):
        await fitted(settings, cases(tmp_path, 4))
    judged = read({"CRAG_EVALUATOR": "llm", "OPENAI_API_KEY": "sk-1"}, None)
    with pytest.raises(UseError, match="nothing to calibrate"):
        await fitted(judged, cases(tmp_path, 40))


async def test_a_calibration_that_cannot_be_read_stops_the_start(settings: Settings) -> None:
    settings.data_dir.mkdir()
    (settings.data_dir / "calibration.json").write_text("{}")
    with pytest.raises(SettingsError, match="crag calibrate"):
        async with open_product(settings):
            pass
