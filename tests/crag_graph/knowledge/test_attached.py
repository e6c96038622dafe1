from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.knowledge.attached import Attached, Beginnings
from crag_graph.knowledge.documents import NewDocument
from crag_graph.knowledge.index import prepare_index
from crag_graph.knowledge.library import Library
from crag_graph.knowledge.search import HybridSearch
from tests.crag_graph.knowledge.making import DIMENSIONS, MODEL, HashedEmbedder, a_document, some_passages

THREAD, OTHER = "T1:C1:1.0", "T1:C1:2.0"
HERE = "T1:C1"


@pytest.fixture
async def library(engine: AsyncEngine) -> Library:
    await prepare_index(engine, model=MODEL, dimensions=DIMENSIONS)
    return Library(engine, model=MODEL)


@pytest.fixture
def attached(engine: AsyncEngine) -> Attached:
    return Attached(engine=engine)


def a_file(source: str = "F1", *, space: str = THREAD, left_out: int = 0) -> NewDocument:
    link = f"https://acme.slack.com/files/{source}"
    return a_document(source, space=space, title=f"{source}.md", link=link, kept=False, left_out=left_out)


async def test_what_came_with_a_conversation_is_of_no_library_and_is_found_there_alone(
    library: Library, attached: Attached, engine: AsyncEngine
) -> None:
    await library.replace(a_file(), some_passages("The offer is 300 euros."))
    assert [one.title for one in await attached.documents(THREAD)] == ["F1.md"]
    assert await attached.documents(OTHER) == ()
    assert await library.documents() == ()
    assert (await library.counts()).documents == 0
    search = HybridSearch(engine, HashedEmbedder())
    assert (await search.search("offer", spaces=[THREAD], limit=3)).passages
    assert not (await search.search("offer", spaces=["T1:workspace", HERE, OTHER], limit=3)).passages


async def test_what_is_kept_moves_with_its_passages_and_takes_the_place_of_an_older_one(
    library: Library, attached: Attached, engine: AsyncEngine
) -> None:
    await library.replace(
        a_document("https://acme.slack.com/files/F1", space=HERE), some_passages("The offer is 200 euros.")
    )
    await library.replace(a_file(), some_passages("The offer is 300 euros."))
    await library.replace(a_file("F2"), some_passages("Another one."))
    (kept,) = await attached.keep(THREAD, ["F1"], space=HERE, by="U7")
    assert (kept.space, kept.source, kept.added_by, kept.kept) == (HERE, kept.link, "U7", True)
    assert [(one.title, one.space) for one in await library.documents()] == [("F1.md", HERE)]
    found = await HybridSearch(engine, HashedEmbedder()).search("offer", spaces=[HERE], limit=3)
    assert [one.text for one in found.passages] == ["The offer is 300 euros."]
    assert [one.source for one in await attached.documents(THREAD)] == ["F2"]
    assert await attached.keep(THREAD, ["F1"], space=HERE, by="U7") == ()


async def test_what_was_not_read_whole_is_not_moved_as_it_is(library: Library, attached: Attached) -> None:
    await library.replace(a_file(left_out=5), some_passages("The first of many."))
    assert await attached.keep(THREAD, ["F1"], space=HERE, by="U7") == ()


async def test_a_conversation_lets_go_of_its_files_and_of_no_document_whose_space_has_its_name(
    library: Library, attached: Attached
) -> None:
    await library.replace(a_file(), some_passages("one"))
    await library.replace(a_file("F2"), some_passages("two"))
    await library.replace(a_file(space=OTHER), some_passages("three"))
    await library.replace(a_document("own.md", space=THREAD), some_passages("four"))
    assert await attached.drop(THREAD, ["F2"]) == 1
    assert await attached.drop(THREAD) == 1
    assert await attached.drop(THREAD) == 0
    assert [one.source for one in await library.documents([THREAD, OTHER])] == ["own.md", "F1"]


async def test_conversations_to_which_nothing_came_for_long_are_named(library: Library, attached: Attached) -> None:
    await library.replace(a_file(), some_passages("one"))
    await library.replace(a_document(space=HERE), some_passages("two"))
    now = datetime.now(UTC)
    assert await attached.conversations(before=now - timedelta(days=1)) == ()
    assert await attached.conversations(before=now + timedelta(days=1)) == (THREAD,)


async def test_beginnings_are_of_each_document_alike_and_in_the_order_of_reading(
    library: Library, engine: AsyncEngine
) -> None:
    await library.replace(a_file(), some_passages("one 1", "one 2", "one 3"))
    await library.replace(a_file("F2"), some_passages("two 1", "two 2"))
    await library.replace(a_file(space=OTHER), some_passages("elsewhere"))
    found = await Beginnings(engine=engine).search("Sum it up!", spaces=[THREAD], limit=4)
    assert [one.text for one in found.passages] == ["one 1", "one 2", "two 1", "two 2"]
    assert (await Beginnings(engine=engine).search("Sum it up!", spaces=[], limit=4)).passages == ()
