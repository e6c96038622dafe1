from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from tests.architecture.source import ROOT


def test_the_import_walls_hold() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == EXIT_STATUS_SUCCESS
