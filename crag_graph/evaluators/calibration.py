"""What was fitted to one installation: two numbers that make a score a probability, two thresholds, and their file."""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crag_graph.verdict import Thresholds

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


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What a file holds; without thresholds, the usual ones stand."""

    calibration: Calibration = field(default_factory=Calibration)
    thresholds: Thresholds | None = None


def load_fit(file: Path) -> Fit:
    """Nothing fitted where there is no file. Raises CalibrationError where it holds something else."""
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        return Fit(
            calibration=Calibration(slope=float(stored["slope"]), shift=float(stored["shift"])),
            thresholds=Thresholds(**stored["thresholds"]) if stored.get("thresholds") else None,
        )
    except FileNotFoundError:
        return Fit()
    except CalibrationError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CalibrationError(f"{file}: {error}") from error


def save_fit(fit: Fit, file: Path) -> Path | None:
    """Writes the file whole or not at all; what was there before stays beside it, and its name is returned."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.new")
    stored = asdict(fit.calibration) | {"thresholds": asdict(fit.thresholds) if fit.thresholds else None}
    fresh.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    kept = None
    if file.exists():
        kept = next(name for number in range(1, 10_000) if not (name := _kept(file, number)).exists())
        kept.write_bytes(file.read_bytes())
    fresh.replace(file)
    return kept


def undo_fit(file: Path) -> bool:
    """Puts back what the newest fit replaced, be it that there was none; that fit stays beside it as `….undone.json`.

    False where there is nothing to take back.
    """
    if not file.exists():
        return False
    file.replace(file.with_name(f"{file.stem}.undone{file.suffix}"))
    older = [name for number in range(1, 10_000) if (name := _kept(file, number)).exists()]
    if older:
        older[-1].replace(file)
    return True


def _kept(file: Path, number: int) -> Path:
    return file.with_name(f"{file.stem}.{number}{file.suffix}")
