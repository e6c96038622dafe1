"""`crag benchmark`: the measuring programs by name, and reviewed cases run again over this installation."""

import ast
import pkgutil
import runpy
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from bot import benchmarks as of_product
from bot.cli.errors import UseError
from bot.cli.running import run
from bot.settings import Settings
from bot.wiring import open_product, policy
from crag_graph import benchmarks as of_graph
from crag_graph.benchmarks.calibrate import CaseError, read_cases
from crag_graph.benchmarks.replay import compared, load_run, replay, save_run


def benchmark(arguments: Sequence[str]) -> None:
    """Runs the program with the other arguments, or the cases of a file; without a name, lists what there is."""
    programs = _programs()
    if not arguments:
        for name, module in programs.items():
            print(f"{name:<12} {_purpose(module)}")
        print(f"{'FILE.jsonl':<12} Reviewed cases, run again and compared with the run before.")
        return
    name, *others = arguments
    if name.endswith(".jsonl"):
        run(lambda settings: replay_file(settings, Path(name)))
    if name not in programs:
        raise UseError(f"There is no benchmark {name!r}. There are: {', '.join(programs)}.")
    sys.argv = [f"crag benchmark {name}", *others]
    runpy.run_module(programs[name], run_name="__main__", alter_sys=True)


async def replay_file(settings: Settings, file: Path) -> int:
    """Prints this run beside the one before, and keeps it in the data folder for the next."""
    kept = settings.data_dir / "benchmarks" / f"{file.stem}.json"
    try:
        cases = read_cases(file)
        async with open_product(settings) as product:
            outcomes = await replay(cases, product.services, policy(settings))
    except CaseError as error:
        raise UseError(str(error)) from error
    print(compared(outcomes, load_run(kept)))
    save_run(outcomes, kept)
    return 0


def _programs() -> dict[str, str]:
    """Modules that can be run, by their name."""
    found = {
        module.name: f"{package.__name__}.{module.name}"
        for package in (of_product, of_graph)
        for module in pkgutil.iter_modules(package.__path__)
    }
    return {name: module for name, module in sorted(found.items()) if '__name__ == "__main__"' in _source(module)}


def _source(module: str) -> str:
    spec = find_spec(module)
    return Path(spec.origin).read_text("utf-8") if spec and spec.origin else ""


def _purpose(module: str) -> str:
    return (ast.get_docstring(ast.parse(_source(module))) or "").partition("\n")[0]
