"""`crag calibrate`: fits the evaluator's scores and the thresholds to reviewed questions of this installation."""

from pathlib import Path

from bot.cli.errors import UseError
from bot.settings import Settings
from bot.wiring import fit_file, local_embedder, thresholds
from crag_graph.benchmarks.calibrate import CaseError, Report, calibrate, read_cases
from crag_graph.benchmarks.quality import Costs
from crag_graph.evaluators.calibration import Calibration, Fit, load_fit, save_fit, undo_fit
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.evaluators.onnx import OnnxEvaluator
from crag_graph.services import Evaluator


async def fit(settings: Settings, cases: Path, *, costs: Costs, apply: bool, picture: Path | None) -> int:
    """Prints what would change; with `apply` it is used from the next start on."""
    file = _file(settings)
    before = load_fit(file).calibration
    evaluator = await _evaluator(settings, before)
    try:
        report = await calibrate(read_cases(cases), evaluator, thresholds=thresholds(settings), costs=costs)
    except CaseError as error:
        raise UseError(str(error)) from error
    print(report.text())
    if picture:
        from crag_graph.benchmarks.picture import draw_reliability  # noqa: PLC0415 - Pillow, for this alone

        draw_reliability(report.before, report.after, picture)
        print(f"\nThe reliability curve is drawn in {picture}.")
    if apply:
        _save(Fit(calibration=_composed(before, report.calibration), thresholds=report.thresholds), file)
    print(_advice(report, settings, applied=apply))
    return 0


async def undo(settings: Settings) -> int:
    """Takes the newest fit back, from the next start on."""
    file = _file(settings)
    if not undo_fit(file):
        raise UseError(f"There is nothing to take back: {file} does not exist.")
    print(
        f"Taken back{'' if file.exists() else '; the evaluator is as it was shipped'}. It counts from the next start on."
    )
    return 0


def _file(settings: Settings) -> Path:
    file = fit_file(settings)
    if file is None:
        raise UseError("CRAG_EVALUATOR=llm gives labels, not scores: there is nothing to calibrate.")
    return file


async def _evaluator(settings: Settings, before: Calibration) -> Evaluator:
    if settings.evaluator == "local":
        return LocalEvaluator(await local_embedder(), calibration=before)
    return OnnxEvaluator(settings.evaluator.removeprefix("onnx:"))


def _composed(before: Calibration, fitted: Calibration) -> Calibration:
    """One calibration after the other: both are straight lines over the logit."""
    return Calibration(slope=fitted.slope * before.slope, shift=fitted.slope * before.shift + fitted.shift)


def _advice(report: Report, settings: Settings, *, applied: bool) -> str:
    by_hand = {"upper", "lower"} & settings.model_fields_set
    hint = " CRAG_UPPER or CRAG_LOWER is set and counts before what was fitted: unset both." if by_hand else ""
    if applied:
        return f"\nIt counts from the next start on; `crag calibrate --undo` takes it back.{hint}"
    if report.better:
        return f"\nBetter on questions left out of the fit. Run it with --apply.{hint}"
    return "\nNo better on questions left out of the fit: leave it as it is."


def _save(fit: Fit, file: Path) -> None:
    kept = save_fit(fit, file)
    print(f"\nWritten to {file}." + (f" What was there before is kept in {kept}." if kept else ""))
