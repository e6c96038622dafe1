from pathlib import Path

import pytest

from bot.settings import Settings, read


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """An installation without any key, on a database of this test's own."""
    return read({"DATABASE_URL": database_url, "CRAG_DATA_DIR": str(tmp_path / "data")}, None)


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """A folder with two documents and a file that is none."""
    folder = tmp_path / "handbook"
    (folder / "more").mkdir(parents=True)
    (folder / "leave.md").write_text("# Leave\n\nEvery parent gets 80 days of paid parental leave.\n", "utf-8")
    (folder / "more" / "travel.txt").write_text("Trains are booked in first class on long journeys.\n", "utf-8")
    (folder / "logo.bin").write_bytes(b"\x00\x01")
    return folder
