from pathlib import Path

from bot.benchmarks.overhead import WAYS, growth, overhead, report
from tests.scenarios.main_job import set_up


async def test_what_is_measured_adds_up_and_is_told(database_url: str, tmp_path: Path) -> None:
    async with set_up("local", database_url, tmp_path) as setup:
        times = await overhead(setup.product, rounds=2)
        sizes = await growth(setup.product, marks=(1, 2))
    assert set(times) == set(WAYS)
    for taken in times.values():
        assert len(taken) == 2
        assert all(0 < one.own < one.whole and one.evaluator > 0 for one in taken)
    assert list(sizes) == [1, 2]
    text = report(times, sizes, [8.1], rounds=2)
    for part in ("| correct |", "| ambiguous |", "| incorrect |", f"| 2 | {sizes[2]:,} |", "8.1."):
        assert part in text
