import asyncio
import sys
import time
from pathlib import Path

import pytest

from bot.cli import main
from tests.bot.cli.terminal import crag, end, start_python


@pytest.mark.parametrize(
    ("arguments", "environment", "status", "says"),
    [
        (["ask", "x"], {"CRAG_UPPER": "1.7"}, 2, "crag: CRAG_UPPER should be less than or equal to 1."),
        (["ask", ""], {}, 2, "crag: The question is empty."),
        (["work"], {"SLACK_BOT_TOKEN": "xoxb-hunter2", "SLACK_APP_TOKEN": "xapp-hunter2"}, 2, "CRAG_MEMORY=postgres"),
        (["nonsense"], {}, 2, "No such command"),
        (["ask", "x"], {"DATABASE_URL": "postgresql://u:hunter2@127.0.0.1:1/d"}, 1, "crag: The database"),
    ],
)
async def test_what_is_wrong_is_one_line_and_the_status_tells_whose_fault_it_is(
    tmp_path: Path, arguments: list[str], environment: dict[str, str], status: int, says: str
) -> None:
    ended = await crag(*arguments, cwd=tmp_path, **environment)
    assert (ended.status, ended.out) == (status, "")
    assert says in ended.error
    assert "Traceback" not in ended.error
    assert "hunter2" not in ended.error


async def test_debug_shows_where_an_error_came_from_wherever_it_stands(tmp_path: Path) -> None:
    ended = await crag("ask", "", "--debug", cwd=tmp_path)
    assert ended.status == 1
    assert "Traceback" in ended.error


async def test_help_is_there_at_once(tmp_path: Path) -> None:
    await crag("--help", cwd=tmp_path)
    best = min([await _seconds_of_help(tmp_path) for _ in range(3)])
    assert best < 1.5  # 0.25 s on a quiet machine


async def _seconds_of_help(folder: Path) -> float:
    since = time.perf_counter()
    ended = await crag("--help", cwd=folder)
    assert "benchmark" in ended.out
    return time.perf_counter() - since


QUIET = """
import sys
def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo"}:
        raise SystemExit(f"calls {arguments[1:]}")
sys.addaudithook(refuse)
from bot.cli import main
main(["ask", "--json", "Who pays for lunch?"])
"""


async def test_a_question_without_any_key_calls_nobody(database_url: str, tmp_path: Path) -> None:
    """libpq, which is C, is not heard here: the database is the one connection that there is."""
    environment = {"DATABASE_URL": database_url, "CRAG_DATA_DIR": str(tmp_path / "data"), "LANGSMITH_API_KEY": "ls-1"}
    ended = await end(await start_python(QUIET, cwd=tmp_path, environment=environment))
    assert ended.error == ""
    assert ended.status == 0
    assert '"abstained": true' in ended.out


async def test_a_reader_who_has_enough_is_no_error(tmp_path: Path) -> None:
    command = "from bot.cli import main; main(['settings', '--env'])"
    process = await asyncio.create_subprocess_shell(
        f'"{sys.executable}" -c "{command}" | head -n 1', stderr=asyncio.subprocess.PIPE, cwd=tmp_path
    )
    _, error = await process.communicate()
    assert error == b""


def test_the_graph_is_printed_as_mermaid(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["graph"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for node in ("contextualize", "evaluate", "search_web", "abstain"):
        assert node in shown


def test_the_benchmarks_are_listed_with_what_they_measure(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["benchmark"])
    assert ended.value.code == 0
    assert "overhead" in capsys.readouterr().out
