"""What makes an evaluator's score a probability at one installation: two numbers in a file."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_LEAST = 1e-6


class CalibrationError(ValueError):
    """The calibration cannot be read."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"{self.__doc__} {detail}")


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Platt scaling: a score p becomes sigmoid(slope · logit(p) + shift). As it stands it changes nothing."""

    slope: float = 1.0
    shift: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.slope) and math.isfinite(self.shift) and self.slope > 0):
            raise CalibrationError("Its slope must be above 0, and both numbers finite.")

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self == Calibration():
            return scores
        calibrated: NDArray[np.float64] = 1 / (1 + np.exp(-(self.slope * logit(scores) + self.shift)))
        return calibrated


def logit(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    kept = np.clip(scores, _LEAST, 1 - _LEAST)
    odds: NDArray[np.float64] = np.log(kept / (1 - kept))
    return odds


def load_calibration(file: Path) -> Calibration:
    """No calibration where there is no file. Raises CalibrationError where it holds something else."""
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        return Calibration(slope=float(stored["slope"]), shift=float(stored["shift"]))
    except FileNotFoundError:
        return Calibration()
    except CalibrationError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CalibrationError(f"{file}: {error}") from error


def save_calibration(calibration: Calibration, file: Path) -> Path | None:
    """Writes the file whole or not at all; what was there before stays beside it, and its name is returned."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.new")
    fresh.write_text(json.dumps(asdict(calibration), indent=1) + "\n", encoding="utf-8")
    kept = None
    if file.exists():
        numbers = (file.with_name(f"{file.stem}.{number}{file.suffix}") for number in range(1, 10_000))
        kept = next(name for name in numbers if not name.exists())
        kept.write_bytes(file.read_bytes())
    fresh.replace(file)
    return kept
