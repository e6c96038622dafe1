import subprocess
import sys
from pathlib import Path

from tests.architecture.source import ROOT


def test_the_import_walls_hold() -> None:
    """In a process of its own: the linter silences every logger of the one that it runs in."""
    linter = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run(  # noqa: S603 - our own walls
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
