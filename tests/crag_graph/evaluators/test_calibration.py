"""The two numbers that make a score a probability, and their file."""

from pathlib import Path

import numpy as np
import pytest

from crag_graph.evaluators.calibration import Calibration, CalibrationError, Fit, load_fit, save_fit, undo_fit
from crag_graph.verdict import Thresholds


def test_no_file_changes_nothing(tmp_path: Path) -> None:
    scores = np.array([0.0, 0.2, 1.0])
    assert np.array_equal(load_fit(tmp_path / "none.json").calibration(scores), scores)


def test_a_shift_moves_scores_and_keeps_their_order(tmp_path: Path) -> None:
    scores = Calibration(slope=2.0, shift=-1.0)(np.array([0.1, 0.5, 0.9]))
    assert list(scores) == sorted(scores)
    assert scores[1] < 0.5


def test_what_is_saved_is_loaded_and_the_old_file_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "calibration.json"
    first, second = shifted(1.0), shifted(2.0, Thresholds(upper=0.6, lower=0.2))
    assert save_fit(first, file) is None
    kept = save_fit(second, file)
    assert kept is not None
    assert (load_fit(kept), load_fit(file)) == (first, second)
    assert save_fit(shifted(3.0), file) != kept


def test_fits_are_taken_back_one_by_one_until_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "calibration.json"
    for shift in (1.0, 2.0, 3.0):
        save_fit(shifted(shift), file)
    seen = []
    while undo_fit(file):
        seen.append(load_fit(file))
    assert seen == [shifted(2.0), shifted(1.0), Fit()]
    assert load_fit(tmp_path / "calibration.undone.json") == shifted(1.0)


def shifted(shift: float, thresholds: Thresholds | None = None) -> Fit:
    return Fit(calibration=Calibration(shift=shift), thresholds=thresholds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        '{"slope": -1, "shift": 0}',
        '{"slope": NaN, "shift": 0}',
        '{"slope": 1, "shift": 0, "thresholds": {"upper": 0.2, "lower": 0.4}}',
        '{"slope": 1, "shift": 0, "thresholds": {"top": 1}}',
    ],
)
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "calibration.json"
    file.write_text(text)
    with pytest.raises(CalibrationError):
        load_fit(file)
