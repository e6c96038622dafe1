"""Every table of every schema is in the register of what is erased, and its statements run."""

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.erasing.eraser import Eraser, WhoError
from bot.erasing.export import export
from bot.erasing.holdings import HOLDINGS, NOTHING_OF_PEOPLE
from bot.memory import Memory

TABLES = text(
    "SELECT table_schema || '.' || table_name FROM information_schema.tables"
    " WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('information_schema', 'pg_catalog')"
)
UNREGISTERED = """
{table} is in no register of bot/erasing/holdings.py, so nobody can erase what it holds.
  · It holds a person's id or words, or belongs to a team: add a Holding with `person` (how a person's rows are found,
    and what of them is deleted or blanked), `team`, a `kind` for the report, and `export` where it is the person's own
    data. Then let the person of tests/scenarios/slack/test_erasing.py leave something in it.
  · Its rows go with those of another table (ON DELETE CASCADE): a Holding with nothing but its name.
  · It holds nothing of anybody: add it to NOTHING_OF_PEOPLE, with what it holds.
"""


async def nobodys(_person: str, *, team: str | None) -> int:
    """There are no experts."""
    return 0


async def test_every_table_is_in_the_register(engine: AsyncEngine) -> None:
    registered = {holding.table for holding in HOLDINGS}
    assert not registered & set(NOTHING_OF_PEOPLE)
    async with engine.connect() as connection:
        there = set((await connection.execute(TABLES)).scalars())
    strangers = sorted(there - registered - set(NOTHING_OF_PEOPLE))
    assert not strangers, "".join(UNREGISTERED.format(table=table) for table in strangers)
    assert not (registered | set(NOTHING_OF_PEOPLE)) - there, "The register names a table that is not there any more."


async def test_of_an_unknown_person_and_an_unknown_team_there_is_nothing_to_erase(
    engine: AsyncEngine, memory: Memory
) -> None:
    eraser = Eraser(engine, [memory], disown=nobodys)
    assert (await eraser.erase_person("U0NOBODY")).counts == {}
    assert (await eraser.erase_person("U0NOBODY", team="T1")).counts == {}
    assert (await eraser.erase_team("T9")).counts == {}
    exported = await export(engine, "U0NOBODY")
    assert not any(exported[kind] for kind in exported if kind not in {"person", "team", "exported_at"})


@pytest.mark.parametrize("name", ["", "  ", "\x00"])
async def test_nobody_in_particular_is_not_erased(engine: AsyncEngine, memory: Memory, name: str) -> None:
    with pytest.raises(WhoError):
        await Eraser(engine, [memory], disown=nobodys).erase_person(name)
    with pytest.raises(WhoError):
        await Eraser(engine, [memory], disown=nobodys).erase_team(name)
