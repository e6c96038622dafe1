import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from bot.database import DatabaseError
from bot.database.embedded import EmbeddedServer
from bot.database.owner import Owner, choose_owner, is_root, reachable, run_as
from bot.database.programs import copy_programs, find_programs

SMALL = {"fsync": "off", "shared_buffers": "16MB"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short and open to all, as a data directory usually is; tests of others make their own below it."""
    made = Path(tempfile.mkdtemp(prefix="crag-"))
    made.chmod(0o755)
    yield made
    while made.exists():  # what a killed start left behind may still be writing
        shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def made_once() -> Iterator[Path]:
    """A data directory with a cluster that was made and stopped, for tests to begin with."""
    made = Path(tempfile.mkdtemp(prefix="crag-"))
    made.chmod(0o755)
    EmbeddedServer(made / "data", SMALL).leave()
    yield made / "data"
    shutil.rmtree(made)


@pytest.fixture
def data_dir(made_once: Path, folder: Path) -> Path:
    run_as(None, ["cp", "-a", made_once, folder / "data"])
    return folder / "data"


@contextmanager
def joined(data_dir: Path, **where: Path) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(data_dir, SMALL, **where)
    try:
        yield server
    finally:
        server.leave()


@contextmanager
def another_process(data_dir: Path, *, wait: bool = True) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.bot.database.user", str(data_dir)]
    with subprocess.Popen(  # noqa: S603  our own program
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if wait:
            assert process.stdout is not None
            assert process.stdout.readline() == "joined\n"
        try:
            yield process
        finally:
            process.kill()


def postmaster(server: EmbeddedServer) -> int:
    return int((server.home / "data" / "postmaster.pid").read_text().split()[0])


def write(server: EmbeddedServer, note: str) -> None:
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS notes (note text)")
        connection.execute("INSERT INTO notes VALUES (%s)", [note])


def notes(server: EmbeddedServer) -> list[str]:
    with psycopg.connect(server.url()) as connection:
        return [row[0] for row in connection.execute("SELECT note FROM notes")]


def test_the_last_user_stops_the_server_and_the_next_finds_its_data(data_dir: Path) -> None:
    first = EmbeddedServer(data_dir, SMALL)
    second = EmbeddedServer(data_dir, SMALL)
    write(first, "kept")
    assert postmaster(first) == postmaster(second)
    assert (first.leave(), second.leave()) == (False, True)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(first.url())
    with joined(data_dir) as third:
        assert notes(third) == ["kept"]


def test_nothing_listens_on_the_network_and_nobody_else_reaches_the_socket(data_dir: Path) -> None:
    with joined(data_dir) as server, psycopg.connect(server.url()) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert server.home.stat().st_mode & 0o077 == 0


def test_processes_that_start_at_once_share_one_server(folder: Path) -> None:
    with another_process(folder / "data", wait=False) as one, another_process(folder / "data", wait=False) as two:
        for process in (one, two):
            assert process.stdout is not None
            assert process.stdout.readline() == "joined\n"
        assert [process.communicate("\n")[0] for process in (one, two)] == ["left\n", "stopped\n"]


def test_a_killed_postgres_starts_again_and_keeps_what_was_committed(data_dir: Path) -> None:
    crashed = EmbeddedServer(data_dir, SMALL)
    write(crashed, "kept")
    os.kill(postmaster(crashed), signal.SIGKILL)
    with joined(data_dir) as server:
        assert notes(server) == ["kept"]
        assert not crashed.leave(), "there was nothing left for it to stop"
        assert notes(server) == ["kept"]


def test_a_killed_user_does_not_keep_the_server_running(data_dir: Path) -> None:
    with another_process(data_dir) as process:
        process.kill()
        process.wait()
        survivor = EmbeddedServer(data_dir, SMALL)
    assert survivor.leave()


@pytest.mark.parametrize("seconds", [0.3, 0.6, 0.9])
def test_a_start_that_was_killed_half_way_hinders_no_other(folder: Path, seconds: float) -> None:
    """Whatever it was at: looking for programs, making the data, starting, creating our database."""
    with another_process(folder / "data", wait=False) as process:
        time.sleep(seconds)
        process.kill()
    with joined(folder / "data") as server:
        write(server, "works")
        assert notes(server) == ["works"]


async def test_a_server_that_dies_under_its_users_is_started_again(data_dir: Path) -> None:
    with joined(data_dir) as server:
        write(server, "kept")
        keeper = asyncio.create_task(server.keep_running(interval=0.05))
        dead = postmaster(server)
        os.kill(dead, signal.SIGKILL)
        async with asyncio.timeout(30):
            while not alive_again(server, dead):  # noqa: ASYNC110  the event is in another process
                await asyncio.sleep(0.05)
        keeper.cancel()
        assert notes(server) == ["kept"]


def alive_again(server: EmbeddedServer, dead: int) -> bool:
    try:
        return postmaster(server) != dead and bool(notes(server))
    except (OSError, ValueError, IndexError, psycopg.OperationalError):
        return False


def test_a_process_that_got_the_dead_servers_id_does_not_hinder_a_start(data_dir: Path) -> None:
    crashed = EmbeddedServer(data_dir, SMALL)
    os.kill(postmaster(crashed), signal.SIGKILL)
    owner = choose_owner(crashed.home)
    with subprocess.Popen(["/bin/sleep", "60"], user=owner.uid if owner else None) as innocent:
        for lock in (crashed.home / "data" / "postmaster.pid", crashed.home / ".s.PGSQL.5432.lock"):
            _, _, rest = lock.read_text().partition("\n")
            lock.write_text(f"{innocent.pid}\n{rest}")
        with joined(data_dir) as server:
            assert postmaster(server) != innocent.pid
        assert innocent.poll() is None
        innocent.kill()
    crashed.leave()


def test_an_empty_lock_file_as_a_full_disk_leaves_it_does_not_hinder_a_start(data_dir: Path) -> None:
    lock = data_dir / "postgres" / "data" / "postmaster.pid"
    lock.touch()
    long_ago = time.time() - 60
    os.utime(lock, (long_ago, long_ago))
    with joined(data_dir) as server:
        assert postmaster(server)


def test_a_start_that_fails_tells_postgres_own_reason(data_dir: Path) -> None:
    (data_dir / "postgres" / "data" / "global" / "pg_control").unlink()
    with pytest.raises(DatabaseError, match=r"does not start: .*pg_control"):
        EmbeddedServer(data_dir, SMALL)


def test_a_place_that_cannot_be_written_to_is_one_clear_error(folder: Path) -> None:
    (folder / "file").touch()
    with pytest.raises(DatabaseError, match=r"cannot be started: .*file"):
        EmbeddedServer(folder / "file" / "data")


def test_data_of_another_version_are_left_alone(data_dir: Path) -> None:
    (data_dir / "postgres" / "data" / "PG_VERSION").write_text("9\n")
    with pytest.raises(DatabaseError, match="Postgres 9, which made the data here"):
        EmbeddedServer(data_dir)


def test_a_link_into_nowhere_is_not_taken_for_an_empty_database(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "postgres").symlink_to(folder / "unmounted")
    with pytest.raises(DatabaseError, match="which is missing"):
        EmbeddedServer(folder / "data")
    assert not (folder / "unmounted").exists()


def test_a_path_too_long_for_a_socket_gets_a_short_one_that_stays(folder: Path, made_once: Path) -> None:
    deep = folder.joinpath(*["very-long-name-of-a-folder"] * 5)
    deep.mkdir(parents=True)
    run_as(None, ["cp", "-a", made_once, deep / "data"])
    with joined(deep / "data") as server:
        write(server, "kept")
        url = server.url()
        sockets = (server.home / "socket").readlink()
        assert sockets.stat().st_mode & 0o077 == 0
    with joined(deep / "data") as again:
        assert (again.url(), notes(again)) == (url, ["kept"])
    sockets.rmdir()


def test_a_closed_parent_is_not_opened(folder: Path) -> None:
    """Root's Postgres runs as another user, and then its files lie where that user may go."""
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    with joined(closed / "data", shared_homes=folder / "shared") as server:
        owner = choose_owner(closed)
        write(server, "works")
        assert notes(server) == ["works"]
        assert closed.stat().st_mode & 0o777 == 0o700
        assert owner is None or reachable(server.home, owner)
        assert (closed / "data" / "postgres").is_symlink() == is_root()


def test_what_root_makes_in_anothers_data_directory_belongs_to_the_other(folder: Path) -> None:
    data_dir = folder / "data"
    data_dir.mkdir()
    if is_root():
        nobody = choose_owner()
        assert nobody is not None
        os.chown(data_dir, nobody.uid, nobody.gid)
    with joined(data_dir) as server:
        made = (server.home, server.home / "data", data_dir / "postgres.lock")
        assert {path.stat().st_uid for path in made} == {data_dir.stat().st_uid}


def test_programs_are_copied_whole_or_not_at_all(folder: Path) -> None:
    found = find_programs()
    (folder / "programs-interrupted.part").mkdir()
    copied = copy_programs(found, folder)
    assert copied == copy_programs(found, folder)
    other = Owner(uid=65534, gid=65534) if is_root() else None
    assert run_as(other, [copied.path("initdb"), "--version"]).printed.startswith("initdb (PostgreSQL)")
    assert folder in copied.folder.parents
