"""The two numbers that make a score a probability, and their file."""

from pathlib import Path

import numpy as np
import pytest

from crag_graph.evaluators.calibration import Calibration, CalibrationError, load_calibration, save_calibration


def test_no_file_changes_nothing(tmp_path: Path) -> None:
    scores = np.array([0.0, 0.2, 1.0])
    assert np.array_equal(load_calibration(tmp_path / "none.json")(scores), scores)


def test_a_shift_moves_scores_and_keeps_their_order(tmp_path: Path) -> None:
    scores = Calibration(slope=2.0, shift=-1.0)(np.array([0.1, 0.5, 0.9]))
    assert list(scores) == sorted(scores)
    assert scores[1] < 0.5


def test_what_is_saved_is_loaded_and_the_old_file_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "calibration.json"
    assert save_calibration(Calibration(shift=1.0), file) is None
    kept = save_calibration(Calibration(shift=2.0), file)
    assert kept is not None
    assert load_calibration(kept) == Calibration(shift=1.0)
    assert load_calibration(file) == Calibration(shift=2.0)
    assert save_calibration(Calibration(shift=3.0), file) != kept


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"slope": -1, "shift": 0}', '{"slope": NaN, "shift": 0}'])
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "calibration.json"
    file.write_text(text)
    with pytest.raises(CalibrationError):
        load_calibration(file)
