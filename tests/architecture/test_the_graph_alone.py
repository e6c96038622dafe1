import subprocess
import sys

from tests.architecture.source import ROOT


def test_the_example_in_architecture_runs_as_it_stands() -> None:
    _, _, rest = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("```python\n")
    example, _, _ = rest.partition("```\n")
    run = subprocess.run(  # noqa: S603 (our own text, in our own interpreter)
        [sys.executable, "-W", "error", "-c", example], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("correct: ")
    assert "80 days" in run.stdout
