from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.experts.answers import Correction, Experts
from crag_graph.knowledge.fetch import Fetcher
from crag_graph.knowledge.index import prepare_index
from crag_graph.knowledge.ingest import Ingest
from crag_graph.knowledge.library import Library
from crag_graph.knowledge.search import HybridSearch
from tests.crag_graph.knowledge.making import DIMENSIONS, MODEL, HashedEmbedder

QUESTION = "Who waters the plants?"


class Days:
    """A calendar that a test turns."""

    def __init__(self) -> None:
        self.today = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.today

    def go_by(self, days: int) -> None:
        self.today += timedelta(days=days)


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
async def experts(engine: AsyncEngine, days: Days) -> Experts:
    await prepare_index(engine, model=MODEL, dimensions=DIMENSIONS)
    ingest = Ingest(library=Library(engine, model=MODEL), embedder=HashedEmbedder(), fetcher=Fetcher())
    return Experts(engine=engine, ingest=ingest, review_after=timedelta(days=90), now=days)


@pytest.fixture
def search(experts: Experts) -> HybridSearch:
    return HybridSearch(experts.engine, HashedEmbedder())


def a_correction(answer: str = "Ben does, on Mondays.", *, question: str = QUESTION, run: str = "") -> Correction:
    return Correction(
        team="T1",
        space="T1:C1",
        question=question,
        answer=answer,
        author="U7",
        author_name="Ada",
        run=run,
        link="https://acme.slack.test/archives/C1/p1",
    )
