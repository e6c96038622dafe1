import ast
import statistics

from crag_graph.graph import STEPS
from tests.architecture.source import EVERYTHING, PRODUCT, ROOT, files, name, parsed

NO_NAMES = {"utils", "helpers", "common", "core", "base", "manager", "models", "types", "misc"}
PATCHING = {"monkeypatch", "mocker"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [name(file) for file in files(*EVERYTHING) if file.stem in NO_NAMES] == []


def test_only_settings_reads_the_environment() -> None:
    readers = {
        name(file)
        for file in files("bot", "crag_graph")
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv", "environb"}
    }
    assert readers == {"bot/settings.py"}


def test_no_test_patches_anything() -> None:
    patched = [
        name(file)
        for file in files("tests")
        for node in ast.walk(parsed(file))
        if (isinstance(node, ast.arg) and node.arg in PATCHING)
        or (isinstance(node, ast.ImportFrom) and node.module == "unittest.mock")
    ]
    assert patched == []


def test_nine_in_ten_functions_are_shorter_than_thirty_lines() -> None:
    lengths = [
        node.end_lineno - node.lineno + 1
        for file in files(*PRODUCT)
        for node in ast.walk(parsed(file))
        if isinstance(node, Function) and node.end_lineno
    ]
    assert statistics.quantiles(lengths, n=10)[-1] < 30
    assert statistics.median(lengths) < 15


def test_no_file_is_a_heap() -> None:
    long = {name(file): len(file.read_text("utf-8").splitlines()) for file in files("bot", "crag_graph")}
    assert {file: lines for file, lines in long.items() if lines > 400} == {}


def test_a_node_has_one_name_in_its_file_its_function_and_the_graph() -> None:
    nodes = {file.stem for file in files("crag_graph/nodes")} - {"__init__"}
    assert {step.name for step in STEPS} == nodes
    assert all(step.node.__module__ == f"crag_graph.nodes.{step.name}" for step in STEPS)


def test_nothing_is_left_to_do_later() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "X" + "XX")
    assert [name(file) for file in files(*EVERYTHING) if any(mark in file.read_text("utf-8") for mark in marks)] == []


def test_the_source_knows_no_machine() -> None:
    places = ["/" + "work/", "/" + "root/"]
    found = [name(file) for file in files(*EVERYTHING) if any(place in file.read_text("utf-8") for place in places)]
    assert found == []
    assert (ROOT / "pyproject.toml").is_file()
