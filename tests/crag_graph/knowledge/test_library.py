import asyncio

import numpy as np
import pytest
from psycopg import AsyncConnection
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database.engine import open_engine
from crag_graph.knowledge.documents import NewPassage
from crag_graph.knowledge.index import OtherEmbeddingError, change_model, prepare_index
from crag_graph.knowledge.library import FreshVectors, Library
from crag_graph.services import LibraryError
from tests.crag_graph.knowledge.making import DIMENSIONS, MODEL, SPACE, a_document, some_passages, vector


@pytest.fixture
async def library(engine: AsyncEngine) -> Library:
    await prepare_index(engine, model=MODEL, dimensions=DIMENSIONS)
    return Library(engine, model=MODEL)


async def texts(library: Library, document_id: int) -> list[str]:
    return [passage.text for passage in await library.passages(document_id)]


async def test_a_stored_document_is_found_by_space_and_source(library: Library) -> None:
    stored = await library.replace(a_document(link="https://example.com/leave"), some_passages("one", "two"))
    assert await library.find(SPACE, "handbook/leave.md") == stored
    assert (stored.state, stored.passages, stored.link) == ("ready", 2, "https://example.com/leave")
    assert await library.find("local/C1", "handbook/leave.md") is None
    assert await library.document(stored.id) == stored


async def test_a_passage_says_where_it_stands(library: Library) -> None:
    under_headings = some_passages("one", headings=("Leave", "Parental leave"), page=3)
    on_a_page = some_passages("two", headings=(), page=4)[0]
    nowhere = some_passages("three", headings=())[0]
    new = [
        *under_headings,
        *(NewPassage(**{**vars(passage), "ordinal": ordinal}) for ordinal, passage in ((1, on_a_page), (2, nowhere))),
    ]
    stored = await library.replace(a_document(), new)
    places = [passage.location for passage in await library.passages(stored.id)]
    assert places == ["Leave › Parental leave", "page 4", ""]


async def test_a_shorter_version_leaves_nothing_of_the_longer_one(library: Library) -> None:
    first = await library.replace(a_document(), some_passages(*(f"old {n}" for n in range(10))))
    second = await library.replace(a_document(title="Leave, revised"), some_passages("new 0", "new 1"))
    assert (second.id, second.title, second.passages) == (first.id, "Leave, revised", 2)
    assert await texts(library, first.id) == ["new 0", "new 1"]
    assert (await library.counts()).passages == 2


async def test_the_same_source_in_two_spaces_is_two_documents(library: Library) -> None:
    await library.replace(a_document(), some_passages("for all"))
    await library.replace(a_document(space="local/C1"), some_passages("for the channel"))
    assert [document.space for document in await library.documents()] == ["local/C1", SPACE]
    assert [document.space for document in await library.documents([SPACE])] == [SPACE]
    assert (await library.counts(["local/C1"])).documents == 1


async def test_a_failed_ingest_leaves_the_old_version_and_says_why(library: Library) -> None:
    stored = await library.replace(a_document(), some_passages("kept"))
    failed = await library.record_failure(a_document(title="?", digest="other"), "no text in it")
    assert (failed.state, failed.problem) == ("failed", "no text in it")
    assert (failed.title, failed.digest, failed.added_at) == (stored.title, stored.digest, stored.added_at)
    assert await texts(library, stored.id) == ["kept"]
    mended = await library.replace(a_document(), some_passages("new"))
    assert (mended.state, mended.problem) == ("ready", "")


async def test_a_first_ingest_that_failed_is_no_reason_to_skip_the_next(library: Library) -> None:
    failed = await library.record_failure(a_document(), "encrypted")
    assert (failed.state, failed.passages, failed.digest) == ("failed", 0, "")
    assert (await library.counts()).failed == 1


async def test_a_document_without_passages_is_refused(library: Library) -> None:
    with pytest.raises(ValueError, match="no passages"):
        await library.replace(a_document(), [])
    assert await library.documents() == ()


async def test_a_removed_document_goes_with_its_passages(library: Library) -> None:
    stored = await library.replace(a_document(), some_passages("one"))
    assert await library.remove(stored.id)
    assert not await library.remove(stored.id)
    counts = await library.counts()
    assert (counts.documents, counts.passages, counts.failed, counts.stale) == (0, 0, 0, 0)


async def test_what_postgres_cannot_store_is_replaced_sign_for_sign(library: Library) -> None:
    hostile = "a\x00b \ud800 c"
    document = a_document(source="x\x00y", title="t\x00\udfff", added_by="U\x00")
    stored = await library.replace(document, some_passages(hostile, headings=("h\x00",)))
    passage = (await library.passages(stored.id))[0]
    assert passage.text == "a\ufffdb \ufffd c"
    assert (passage.title, passage.location) == ("t\ufffd\ufffd", "h\ufffd")
    assert await library.find(SPACE, "x\x00y") == stored
    noted = await library.record_failure(document, "bad \x00 byte")
    assert noted.problem == "bad \ufffd byte"


async def test_ten_megabytes_are_stored(library: Library) -> None:
    stored = await library.replace(a_document(), some_passages("word " * 2_000_000))
    assert [len(passage.text) for passage in await library.passages(stored.id)] == [10_000_000]


async def test_processes_that_replace_one_source_at_once_leave_one_whole_version(
    library: Library, database_url: str
) -> None:
    other_engine = open_engine(database_url)
    other = Library(other_engine, model=MODEL)

    async def keep_replacing(mine: Library, name: str) -> None:
        for size in range(1, 6):
            await mine.replace(a_document(title=name), some_passages(*[name] * size))

    await asyncio.gather(keep_replacing(library, "first"), keep_replacing(other, "second"))
    (stored,) = await library.documents()
    assert await texts(library, stored.id) == [stored.title] * 5
    await other_engine.dispose()


async def test_a_crash_in_the_middle_of_replacing_leaves_the_old_version(
    library: Library, engine: AsyncEngine, database_url: str
) -> None:
    stored = await library.replace(a_document(), some_passages("old"))
    async with await AsyncConnection.connect(database_url, autocommit=True) as guard:
        # Holds up the replacement when it has deleted the old passages and is about to write its own.
        async with guard.transaction():
            await guard.execute("LOCK TABLE passages IN SHARE MODE")
            replacing = asyncio.create_task(library.replace(a_document(), some_passages("new")))
            await wait_until_blocked(guard)
            await guard.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        with pytest.raises(LibraryError):
            await replacing
    assert await texts(library, stored.id) == ["old"]
    assert (await library.find(SPACE, "handbook/leave.md")) == stored


async def wait_until_blocked(connection: AsyncConnection) -> None:
    async with asyncio.timeout(10):
        while True:
            query = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            if await (await connection.execute(query)).fetchone():
                return
            await asyncio.sleep(0.01)


async def test_another_embedding_model_is_refused_with_the_command_that_helps(
    library: Library, engine: AsyncEngine
) -> None:
    await prepare_index(engine, model=MODEL, dimensions=DIMENSIONS)
    with pytest.raises(OtherEmbeddingError, match="crag library refresh --all"):
        await prepare_index(engine, model="other", dimensions=64)
    with pytest.raises(OtherEmbeddingError):
        await Library(engine, model="other").replace(a_document(), some_passages("one"))


async def test_processes_that_prepare_the_index_at_once_agree(engine: AsyncEngine) -> None:
    await asyncio.gather(*(prepare_index(engine, model=MODEL, dimensions=DIMENSIONS) for _ in range(4)))


async def test_after_a_change_of_model_every_passage_is_stale_until_it_is_embedded_again(
    library: Library, engine: AsyncEngine
) -> None:
    stored = await library.replace(a_document(), some_passages("one", "two", "three"))
    await change_model(engine, model="other", dimensions=4)
    with pytest.raises(OtherEmbeddingError):
        await library.replace(a_document(), some_passages("late, with vectors of the old model"))
    renewed = Library(engine, model="other")
    assert (await renewed.counts()).stale == 3
    seen = await embed_again(renewed)
    assert seen == ["one", "two", "three"]
    assert (await renewed.counts()).stale == 0
    assert await texts(renewed, stored.id) == ["one", "two", "three"]
    await change_model(engine, model="other", dimensions=4)
    assert (await renewed.counts()).stale == 0, "changing to the model that it has already costs nothing"


async def embed_again(library: Library, features_version: str | None = None) -> list[str]:
    """In steps of two, as a crash could interrupt it."""
    seen: list[str] = []
    while found := await library.stale(features_version=features_version, limit=2):
        seen += [passage.text for passage in found]
        vectors = np.eye(4, dtype=np.float32)
        fresh = [FreshVectors(id=passage.id, embedding=vectors[passage.id % 4], features=b"new") for passage in found]
        await library.freshen(fresh, features_version=features_version)
    return seen


async def test_features_of_another_version_are_stale_and_a_passage_tells_what_it_is_about(library: Library) -> None:
    await library.replace(a_document(), some_passages("one"), features_version="1")
    assert await library.stale() == ()
    assert await library.stale(features_version="1") == ()
    (found,) = await library.stale(features_version="2")
    assert (found.title, found.location, found.text) == ("Leave", "Leave", "one")
    await library.freshen([FreshVectors(id=found.id, embedding=vector("one"), features=b"2")], features_version="2")
    assert await library.stale(features_version="2") == ()


async def test_a_library_that_is_away_says_so(database_url: str) -> None:
    away = open_engine(database_url.replace("5432", "5431"))
    with pytest.raises(LibraryError, match="not reachable"):
        await Library(away, model=MODEL).documents()
    await away.dispose()
