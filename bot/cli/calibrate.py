"""`crag calibrate`: fits the evaluator's scores and the thresholds to reviewed questions of this installation."""

from pathlib import Path

from bot.cli.errors import UseError
from bot.settings import Settings
from bot.wiring import local_embedder
from crag_graph.benchmarks.calibrate import CaseError, Report, calibrate, read_cases
from crag_graph.evaluators.calibration import Calibration, load_calibration, save_calibration
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.evaluators.onnx import CALIBRATION, OnnxEvaluator
from crag_graph.services import Evaluator
from crag_graph.verdict import Thresholds


async def fit(settings: Settings, cases: Path, *, apply: bool) -> int:
    """Prints what would change; with `apply` the calibration is used from the next start on."""
    evaluator, file, before = await _evaluator(settings)
    thresholds = Thresholds(upper=settings.upper, lower=settings.lower)
    try:
        report = await calibrate(read_cases(cases), evaluator, thresholds=thresholds)
    except CaseError as error:
        raise UseError(str(error)) from error
    print(report.text())
    print(_advice(report, file, applied=apply))
    if apply:
        _save(_composed(before, report.calibration), file)
    return 0


async def _evaluator(settings: Settings) -> tuple[Evaluator, Path, Calibration]:
    """The evaluator that is set, the file of its calibration, and what of that is already in its scores."""
    if settings.evaluator == "llm":
        raise UseError("CRAG_EVALUATOR=llm gives labels, not scores: there is nothing to calibrate.")
    if settings.evaluator == "local":
        return LocalEvaluator(await local_embedder()), settings.data_dir / CALIBRATION, Calibration()
    model = settings.evaluator.removeprefix("onnx:")
    file = _beside(Path(model))
    return OnnxEvaluator(model), file, load_calibration(file)


def _beside(model: Path) -> Path:
    return (model if model.is_dir() else model.parent) / CALIBRATION


def _composed(before: Calibration, fitted: Calibration) -> Calibration:
    """One calibration after the other: both are straight lines over the logit."""
    return Calibration(slope=fitted.slope * before.slope, shift=fitted.slope * before.shift + fitted.shift)


def _advice(report: Report, file: Path, *, applied: bool) -> str:
    new = report.thresholds
    settings = f"CRAG_UPPER={new.upper:g} CRAG_LOWER={new.lower:g}"
    if applied:
        return f"\nWritten to {file}. Set {settings} with it, and start again."
    if report.better:
        return f"\nBetter on questions left out of the fit. Run it with --apply, and set {settings}."
    return "\nNo better on questions left out of the fit: leave it as it is."


def _save(calibration: Calibration, file: Path) -> None:
    if kept := save_calibration(calibration, file):
        print(f"What was there before is kept in {kept}.")
