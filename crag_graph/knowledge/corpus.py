"""What search knows of the library as a whole: how common a word is, and how much a space holds."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.knowledge.tables import documents

REMEMBERED = 60.0  # seconds
MOST_SPACES = 1_000

# Postgres gathers these figures for its planner (ANALYZE, autovacuum): of the commonest words, in how many of all rows
# each occurs. After the frequencies stand three figures more, which are no frequencies of words.
_COMMON_WORDS = text("""
    SELECT greatest(reltuples, 0), most_common_elems::text::text[], most_common_elem_freqs
    FROM pg_class LEFT JOIN pg_stats ON tablename = relname AND attname = 'words' AND schemaname = current_schema()
    WHERE pg_class.oid = 'passages'::regclass
""")


@dataclass(frozen=True, kw_only=True)
class Commonness:
    """`passages`: how many there are, about; `shares`: of them, the share that has a word, for the commonest words."""

    passages: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)

    def rarest_first(self, words: Sequence[str]) -> list[str]:
        """Long words before short ones where nothing else is known."""
        return sorted(words, key=lambda word: (self.shares.get(word, 0.0), -len(word)))

    def share(self, word: str) -> float:
        """Of all passages, the share that has it: for a word too rare to be known, half of the rarest known one."""
        return self.shares.get(word, self._rarest / 2)

    @cached_property
    def _rarest(self) -> float:
        return min(self.shares.values(), default=0.0)


class Corpus:
    """Remembers its figures for a minute: they guide searches, and may be a little old."""

    def __init__(self, engine: AsyncEngine, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._commonness = Commonness()
        self._sizes: dict[tuple[str, ...], int] = {}
        self._forget_at = clock()

    async def look(self, spaces: Sequence[str]) -> tuple[Commonness, int]:
        """How common words are, and how many passages these spaces hold together."""
        if self._clock() >= self._forget_at:
            self._commonness = await self._read_commonness()
            self._sizes.clear()
            self._forget_at = self._clock() + REMEMBERED
        key = tuple(sorted(spaces))
        if key not in self._sizes:
            if len(self._sizes) >= MOST_SPACES:
                self._sizes.clear()
            self._sizes[key] = await self._read_size(key)
        return self._commonness, self._sizes[key]

    async def _read_commonness(self) -> Commonness:
        async with self._engine.connect() as connection:
            passages, words, shares = (await connection.execute(_COMMON_WORDS)).one()
        return Commonness(passages=passages, shares=dict(zip(words or (), shares or (), strict=False)))

    async def _read_size(self, spaces: Sequence[str]) -> int:
        query = select(func.coalesce(func.sum(documents.c.passages), 0)).where(documents.c.space.in_(spaces))
        async with self._engine.connect() as connection:
            return int((await connection.execute(query)).scalar_one())
