"""`crag traces export`: reviewed traces as cases to measure and calibrate with."""

import sys
from pathlib import Path

from bot.cli.printing import line
from bot.settings import Settings
from bot.traces.export import Placeholders, case_of, reviewed
from bot.traces.reading import Filter
from bot.wiring import open_database


async def export(settings: Settings, which: Filter, *, output: Path | None, raw: bool) -> int:
    """Writes the cases, and says on standard error how many there are and what was left out."""
    hidden = Placeholders()
    cases, erased, undecided = [], 0, 0
    async with open_database(settings) as database:
        async for trace in reviewed(database.engine, which):
            if case := case_of(trace):
                cases.append(line(case if raw else hidden.hide_all(case)))
            elif trace.run["erased_at"]:
                erased += 1
            else:
                undecided += 1
    _write("".join(f"{case}\n" for case in cases), output)
    left_out = f"Left out: {erased} erased, {undecided} without a word on the verdict."
    print(f"Cases{f' in {output}' if output else ''}: {len(cases)}. {left_out}", file=sys.stderr)
    return 0


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    fresh = output.with_name(f"{output.name}.new")
    fresh.touch(mode=0o600)  # what people asked is for its owner alone
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(output)
