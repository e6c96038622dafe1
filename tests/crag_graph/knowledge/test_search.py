import asyncio
from collections.abc import Mapping, Sequence

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database.engine import open_engine
from crag_graph.embedding import Vectors
from crag_graph.knowledge.corpus import REMEMBERED, Corpus
from crag_graph.knowledge.index import INDEX, change_model, prepare_index
from crag_graph.knowledge.library import Library
from crag_graph.knowledge.search import FEW, Breadth, HybridSearch
from crag_graph.services import LibraryError, ModelBusyError, Retrieval
from tests.crag_graph.knowledge.making import DIMENSIONS, MODEL, SPACE, HashedEmbedder, a_document, some_passages

CHANNEL = "local/C1"
BY_INDEX = Breadth(exact=False)


class BusyEmbedder(HashedEmbedder):
    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise ModelBusyError("429")


@pytest.fixture
async def library(engine: AsyncEngine) -> Library:
    await prepare_index(engine, model=MODEL, dimensions=DIMENSIONS)
    return Library(engine, model=MODEL)


@pytest.fixture
async def search(engine: AsyncEngine) -> HybridSearch:
    return HybridSearch(engine, HashedEmbedder(), features_version="1")


def found(retrieval: Retrieval) -> list[str]:
    return [passage.text for passage in retrieval.passages]


async def test_the_passage_that_says_it_comes_first_with_all_that_a_citation_needs(
    library: Library, search: HybridSearch
) -> None:
    document = a_document(link="https://example.com/leave")
    stored = await library.replace(
        document,
        some_passages("parental leave lasts sixteen weeks", "travel is booked early", "expenses are paid monthly"),
        features_version="1",
    )
    (first, *_) = (await search.search("how long is parental leave", spaces=[SPACE], limit=3)).passages
    assert first.text == "parental leave lasts sixteen weeks"
    assert (first.document, first.source, first.title) == (f"doc:{stored.id}", "handbook/leave.md", "Leave")
    assert (first.location, first.link, first.features) == ("Leave", "https://example.com/leave", b"features")
    assert first.id == (await library.passages(stored.id))[0].id


async def test_features_of_another_version_stay_away(library: Library, engine: AsyncEngine) -> None:
    await library.replace(a_document(), some_passages("parental leave"), features_version="1")
    for version in ("2", None):
        other = HybridSearch(engine, HashedEmbedder(), features_version=version)
        (passage,) = (await other.search("leave", spaces=[SPACE], limit=1)).passages
        assert passage.features is None


async def test_a_question_sees_only_its_spaces(library: Library, search: HybridSearch) -> None:
    await library.replace(a_document(), some_passages("leave for all"))
    await library.replace(a_document(space=CHANNEL), some_passages("leave for the channel"))
    await library.replace(a_document(space="other/workspace"), some_passages("leave elsewhere"))
    assert found(await search.search("leave", spaces=[SPACE], limit=8)) == ["leave for all"]
    both = await search.search("leave", spaces=[SPACE, CHANNEL], limit=8)
    assert sorted(found(both)) == ["leave for all", "leave for the channel"]
    assert found(await search.search("leave", spaces=[], limit=8)) == []
    assert found(await search.search("leave", spaces=["local/empty"], limit=8)) == []


async def test_one_passage_in_a_thousand_is_enough_for_all_that_are_asked_for(
    library: Library, engine: AsyncEngine
) -> None:
    await fill(engine, {SPACE: 8_000, CHANNEL: 8})
    for breadth in (Breadth(), Breadth(exact=True), BY_INDEX):
        search = HybridSearch(engine, HashedEmbedder(), breadth=breadth)
        assert len((await search.search("zebra", spaces=[CHANNEL], limit=8)).passages) == 8


async def fill(engine: AsyncEngine, sizes: Mapping[str, int], *, words: str = "") -> None:
    """Passages at random places, so many for each space, all with the same words."""
    async with engine.begin() as connection:
        definition = (await connection.execute(text(f"SELECT pg_get_indexdef('{INDEX}'::regclass)"))).scalar_one()
        await connection.execute(text(f"DROP INDEX {INDEX}"))
        await connection.execute(
            _FILL,
            [{"space": space, "size": size, "dimensions": DIMENSIONS, "words": words} for space, size in sizes.items()],
        )
        await connection.execute(text(definition))


_FILL = text("""
    WITH document AS (
        INSERT INTO documents (space, source, title, loader, digest, size, added_by, passages, state)
        VALUES (:space, 'many', 'Many', 'text', '', 0, '', :size, 'ready') RETURNING id
    )
    INSERT INTO passages (document_id, space, ordinal, text, headings, start_at, end_at, words, embedding)
    SELECT id, :space, n, 'filler', '{}', 0, 6, CAST(:words AS tsvector),
           ARRAY(SELECT random(-1.0, 1.0) FROM generate_series(1, :dimensions) WHERE n > 0)::real[]::halfvec
    FROM document, generate_series(1, :size) AS n
""")


async def test_the_index_finds_what_comparing_with_all_finds(library: Library, engine: AsyncEngine) -> None:
    await fill(engine, {SPACE: 3_000})
    exact = HybridSearch(engine, HashedEmbedder(), breadth=Breadth(exact=True))
    by_index = HybridSearch(engine, HashedEmbedder(), breadth=Breadth(exact=False, index=200))
    same = [
        len({p.id for p in a.passages} & {p.id for p in b.passages})
        for a, b in [
            (
                await exact.search(f"zebra {n}", spaces=[SPACE], limit=8),
                await by_index.search(f"zebra {n}", spaces=[SPACE], limit=8),
            )
            for n in range(10)
        ]
    ]
    assert sum(same) >= 0.95 * 80


async def test_a_rare_word_outweighs_the_small_words_around_it(library: Library, engine: AsyncEngine) -> None:
    await library.replace(
        a_document(),
        some_passages(*(f"what is the way to do the thing number {n}" for n in range(30)), "code E4012 stops a motor"),
    )
    words_alone = HybridSearch(engine, BusyEmbedder())
    result = await words_alone.search("what is the way to do with E4012", spaces=[SPACE], limit=3)
    assert found(result)[0] == "code E4012 stops a motor"


async def test_common_words_do_not_keep_a_rare_one_from_being_found_in_a_large_library(
    library: Library, engine: AsyncEngine
) -> None:
    """Only so many passages are weighed: the rarest words must choose them."""
    await fill(engine, {SPACE: FEW}, words="'the' 'common' 'word' 'of' 'a' 'hous'")
    await library.replace(a_document(), some_passages("the rare zebra"))
    await library.refresh_statistics()
    search = HybridSearch(engine, BusyEmbedder(), breadth=Breadth(hits=20))
    result = await search.search("the common words of a zebra", spaces=[SPACE], limit=3)
    assert found(result)[0] == "the rare zebra"


async def test_equal_words_are_ordered_by_meaning(library: Library, search: HybridSearch) -> None:
    await library.replace(
        a_document(), some_passages("leave blue green red", "leave now", "leave one two three four five six")
    )
    assert found(await search.search("leave", spaces=[SPACE], limit=3))[0] == "leave now"


async def test_a_superseded_document_stands_behind_its_successor(library: Library, search: HybridSearch) -> None:
    await library.replace(
        a_document(source="2019.md", superseded=True), some_passages("parental leave lasts ten weeks")
    )
    await library.replace(a_document(source="2024.md"), some_passages("parental leave lasts sixteen weeks now"))
    result = await search.search("parental leave lasts ten weeks", spaces=[SPACE], limit=8)
    assert [passage.superseded for passage in result.passages] == [False, True]


async def test_a_superseded_document_is_found_where_nothing_newer_says_it(
    library: Library, search: HybridSearch
) -> None:
    await library.replace(a_document(source="old.md", superseded=True), some_passages("the fax number is secret"))
    await library.replace(a_document(source="new.md"), some_passages(*(f"travel rule {n}" for n in range(20))))
    assert found(await search.search("fax number", spaces=[SPACE], limit=8))[0] == "the fax number is secret"


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("how long was parental leave in 2019", "ten weeks of parental leave"),
        ("how long was parental leave under the old rules", "ten weeks of parental leave"),
        ("how long was parental leave in 2024", "sixteen weeks of parental leave"),
    ],
)
async def test_a_superseded_document_does_not_stand_back_where_its_time_is_asked_for(
    library: Library, search: HybridSearch, question: str, first: str
) -> None:
    old = a_document(source="leave-2019.md", title="Leave was long under old rules in 2019", superseded=True)
    await library.replace(old, some_passages("ten weeks of parental leave", headings=("How was it",)))
    await library.replace(a_document(source="new.md"), some_passages("sixteen weeks of parental leave"))
    assert found(await search.search(question, spaces=[SPACE], limit=8))[0] == first


async def test_an_older_edition_tells_the_newest_that_may_be_seen(library: Library, search: HybridSearch) -> None:
    for number, space in ((3, SPACE), (10, SPACE), (11, CHANNEL), (9, SPACE)):
        document = a_document(source=f"{number}.md", title=f"Release notes 8.{number}", space=space)
        await library.replace(document, some_passages(f"groups of {number} people"))
    await library.replace(a_document(source="other.md", title="Release notes"), some_passages("groups of people"))

    async def newer(*spaces: str) -> dict[str, str]:
        result = await search.search("groups of people", spaces=spaces, limit=8)
        return {passage.title: passage.newer for passage in result.passages}

    newest = "Release notes 8.10"
    here = {"Release notes 8.3": newest, "Release notes 8.9": newest, newest: "", "Release notes": ""}
    assert await newer(SPACE) == here
    beyond = "Release notes 8.11"
    assert await newer(SPACE, CHANNEL) == {
        **dict.fromkeys(["Release notes 8.3", "Release notes 8.9", newest], beyond),
        beyond: "",
        "Release notes": "",
    }


async def test_an_edition_that_is_removed_leaves_the_one_before_it_as_the_newest(
    library: Library, search: HybridSearch
) -> None:
    await library.replace(a_document(source="1.md", title="Leave policy 2023"), some_passages("ten weeks"))
    later = await library.replace(a_document(source="2.md", title="Leave policy 2025"), some_passages("twelve days"))
    assert [one.newer for one in (await search.search("ten weeks", spaces=[SPACE], limit=1)).passages] == [later.title]
    await library.remove(later.id)
    assert [one.newer for one in (await search.search("ten weeks", spaces=[SPACE], limit=1)).passages] == [""]


async def test_without_embeddings_words_alone_find_and_a_fault_tells_it(library: Library, engine: AsyncEngine) -> None:
    await library.replace(a_document(), some_passages("parental leave", "travel"))
    result = await HybridSearch(engine, BusyEmbedder()).search("parental", spaces=[SPACE], limit=8)
    assert found(result) == ["parental leave"]
    (fault,) = result.faults
    assert (fault.where, fault.kind) == ("retrieve", "ModelBusyError")
    nothing = await HybridSearch(engine, BusyEmbedder()).search("?!", spaces=[SPACE], limit=8)
    assert (nothing.passages, len(nothing.faults)) == ((), 1)


async def test_while_a_library_is_embedded_again_its_passages_are_found_by_their_words(
    library: Library, engine: AsyncEngine, search: HybridSearch
) -> None:
    await library.replace(a_document(), some_passages("parental leave", "travel"))
    await change_model(engine, model="other", dimensions=4)
    result = await search.search("parental", spaces=[SPACE], limit=8)
    assert (found(result), result.faults) == (["parental leave"], ())


@pytest.mark.parametrize(
    "query",
    [
        "leave\x00",
        "\ud800 leave",
        "leave'); DROP TABLE passages; --",
        "leave " * 7_000,
        "'leave' & !x | (",
        "%(leave)s %",
    ],
)
async def test_hostile_questions_are_only_words(library: Library, search: HybridSearch, query: str) -> None:
    await library.replace(a_document(), some_passages("parental leave"))
    assert found(await search.search(query, spaces=[SPACE, "'; --"], limit=8)) == ["parental leave"]


@pytest.mark.parametrize("query", ["", "???", "😀"])
async def test_a_question_without_words_is_searched_by_meaning(
    library: Library, search: HybridSearch, query: str
) -> None:
    await library.replace(a_document(), some_passages("parental leave"))
    assert found(await search.search(query, spaces=[SPACE], limit=8)) == ["parental leave"]


async def test_an_empty_library_answers_with_nothing(library: Library, search: HybridSearch) -> None:
    assert await search.search("leave", spaces=[SPACE], limit=8) == Retrieval(passages=())


async def test_many_questions_at_once_wait_for_a_connection(library: Library, search: HybridSearch) -> None:
    await library.replace(a_document(), some_passages("parental leave"))
    results = await asyncio.gather(*(search.search("leave", spaces=[SPACE], limit=8) for _ in range(40)))
    assert {len(result.passages) for result in results} == {1}


async def test_a_search_leaves_no_setting_behind(library: Library, database_url: str) -> None:
    one = open_engine(database_url, pool_size=1)
    await HybridSearch(one, HashedEmbedder(), breadth=BY_INDEX).search("leave", spaces=[SPACE], limit=8)
    async with one.connect() as connection:
        settings = [
            (await connection.execute(text(f"SHOW hnsw.{name}"))).scalar() for name in ("ef_search", "iterative_scan")
        ]
    assert settings == ["40", "off"]
    await one.dispose()


async def test_a_database_that_is_away_is_a_library_error(database_url: str) -> None:
    away = open_engine(database_url.replace("5432", "5431"))
    with pytest.raises(LibraryError):
        await HybridSearch(away, HashedEmbedder()).search("leave", spaces=[SPACE], limit=8)
    await away.dispose()


async def test_a_connection_that_broke_is_replaced(library: Library, search: HybridSearch, engine: AsyncEngine) -> None:
    await library.replace(a_document(), some_passages("parental leave"))
    async with engine.connect() as connection:
        await connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    assert found(await search.search("leave", spaces=[SPACE], limit=8)) == ["parental leave"]


async def test_figures_about_the_library_are_read_again_after_a_minute(library: Library, engine: AsyncEngine) -> None:
    times = iter([0.0, 0.0, 0.0, REMEMBERED / 2, REMEMBERED + 1, REMEMBERED + 1])
    corpus = Corpus(engine, clock=lambda: next(times))
    assert (await corpus.look([SPACE]))[1] == 0
    await library.replace(a_document(), some_passages(*["parental leave"] * 3))
    await library.refresh_statistics()
    assert (await corpus.look([SPACE]))[1] == 0
    commonness, size = await corpus.look([SPACE])
    assert (size, commonness.share("leav")) == (3, 1.0)
