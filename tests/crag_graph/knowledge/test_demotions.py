"""Passages that did not help rank lower for questions like that one, and nothing else changes."""

import pytest
from sqlalchemy import true
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.knowledge.demotions import Against, Demotions
from crag_graph.knowledge.index import prepare_index
from crag_graph.knowledge.library import Library
from crag_graph.knowledge.search import Breadth, HybridSearch
from tests.crag_graph.knowledge.making import DIMENSIONS, MODEL, SPACE, HashedEmbedder, a_document, some_passages

ASKED = "how many weeks of parental leave"
OTHER = "when is travel booked"
WRONG = "how many weeks of parental leave are asked for is counted in the statistics"
RIGHT = "sixteen weeks of parental leave are paid"
TRAVEL = ("travel is booked when a journey is sure", "how many weeks before travel is booked counts")


class Renamed(HashedEmbedder):
    name = "another"


@pytest.fixture
async def library(engine: AsyncEngine) -> Library:
    await prepare_index(engine, model=MODEL, dimensions=DIMENSIONS)
    stored = Library(engine, model=MODEL)
    await stored.replace(a_document(), some_passages(WRONG, RIGHT, *TRAVEL), features_version="1")
    return stored


@pytest.fixture
def demotions(engine: AsyncEngine) -> Demotions:
    return Demotions(engine=engine, embedder=HashedEmbedder())


def against(run: str = "t1", *, text: str = WRONG, spaces: tuple[str, ...] = (SPACE,)) -> Against:
    return Against(question=ASKED, spaces=spaces, source="handbook/leave.md", text=text, run=run)


async def ranked(engine: AsyncEngine, question: str = ASKED, *, exact: bool | None = None) -> list[str]:
    search = HybridSearch(engine, HashedEmbedder(), breadth=Breadth(exact=exact))
    return [one.text for one in (await search.search(question, spaces=[SPACE], limit=8)).passages]


@pytest.mark.parametrize("exact", [True, False])
async def test_what_two_reviewers_call_irrelevant_goes_behind_for_that_question_and_stays_where_it_was_for_others(
    engine: AsyncEngine, library: Library, demotions: Demotions, *, exact: bool
) -> None:
    before, elsewhere = await ranked(engine, exact=exact), await ranked(engine, OTHER, exact=exact)
    assert before[0] == WRONG
    assert await demotions.note(against("t1"), by="U7")
    assert await ranked(engine, exact=exact) == before
    assert await demotions.note(against("t2"), by="U7")
    after = await ranked(engine, exact=exact)
    assert after[-1] == WRONG
    assert [text for text in after if text != WRONG] == [text for text in before if text != WRONG]
    assert await ranked(engine, OTHER, exact=exact) == elsewhere


async def test_a_firm_word_counts_alone_and_every_word_can_be_taken_back(
    engine: AsyncEngine, library: Library, demotions: Demotions
) -> None:
    before = await ranked(engine)
    await demotions.note(against(), by="U7", firm=True)
    assert (await ranked(engine))[-1] == WRONG
    said = await demotions.of_texts([WRONG, RIGHT], spaces=[SPACE])
    assert [(one.made_by, one.firm, one.question) for one in said[WRONG]] == [("U7", True, ASKED)]
    assert not await demotions.undo(said[WRONG][0].id, spaces=~true())
    assert await demotions.undo(said[WRONG][0].id, spaces=true())
    assert await ranked(engine) == before
    await demotions.note(against(), by="U7", firm=True)
    await demotions.take_back(against(), by="U7")
    assert await ranked(engine) == before


async def test_the_same_word_twice_is_one_and_what_the_library_does_not_hold_is_not_noted(
    engine: AsyncEngine, library: Library, demotions: Demotions
) -> None:
    before = await ranked(engine)
    for _ in range(2):
        await demotions.note(against(), by="U7")
    assert await ranked(engine) == before
    assert not await demotions.note(against(text="gone\x00"), by="U7", firm=True)
    assert not await demotions.note(against(spaces=("elsewhere",)), by="U7", firm=True)


async def test_a_demotion_outlives_the_passages_id_and_a_change_of_the_model(
    engine: AsyncEngine, library: Library, demotions: Demotions
) -> None:
    await demotions.note(against(), by="U7", firm=True)
    await library.replace(a_document(digest="new"), some_passages(RIGHT, WRONG, *TRAVEL), features_version="1")
    assert (await ranked(engine))[-1] == WRONG
    assert await Demotions(engine=engine, embedder=Renamed()).renew() == 1
    assert (await ranked(engine))[0] == WRONG
    assert await demotions.renew() == 1
    assert await demotions.renew() == 0
    assert (await ranked(engine))[-1] == WRONG
