from pathlib import Path

from crag_graph.benchmarks.calls import DESCENT, Row, Way, measure, read_folder, table
from tests.crag_graph.running import Cast
from tests.fakes.services import ScriptedEvaluator, ScriptedLibrary, passage
from tests.fakes.serving import PAGES


def cast() -> Cast:
    cast = Cast(evaluator=ScriptedEvaluator(scores={"slope": 0.9}))
    cast.library = ScriptedLibrary(spaces={"all": [passage("Gradient descent follows the slope. It takes steps.")]})
    return cast


async def test_a_path_is_measured_by_its_calls_and_its_time() -> None:
    way = Way(name="follow-up", question="And its steps?", turns=(DESCENT,))
    row = await measure(way, cast().services, evaluator="scripted", delay=0, rounds=3)
    assert (row.path, row.evaluator, row.delay) == ("follow-up", "scripted", 0)
    assert (row.verdict, row.calls) == ("correct", 2)
    assert 0 < row.first_text <= row.median <= row.p95


async def test_an_abstention_is_not_counted_as_an_answer() -> None:
    services = Cast().services
    row = await measure(Way(name="incorrect", question="What?"), services, evaluator="scripted", delay=0, rounds=1)
    assert row.verdict == "abstained"


def test_the_table_has_a_line_for_each_row() -> None:
    row = Row(
        path="correct",
        evaluator="local",
        delay=300,
        verdict="correct",
        calls=1,
        first_text=310.4,
        median=342.5,
        p95=360,
        cpu=41.6,
    )
    assert table([row]).splitlines()[2] == "| correct | local | correct | 1 | 300 | 310 | 342 | 360 | 42 |"


def test_only_files_that_can_be_loaded_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.")
    (tmp_path / "a.exe").write_bytes(b"MZ")
    assert set(read_folder(tmp_path)) == {"a.md"}


def test_the_pages_of_the_local_web_have_texts_of_their_own() -> None:
    assert len({page.raw for page in PAGES}) == len(PAGES)
