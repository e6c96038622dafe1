import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from crag_graph.knowledge.documents import Block, BlockKind, LoadedDocument
from crag_graph.knowledge.split import Chunk, split, whole_text


def paragraph(text: str, *headings: str, kind: BlockKind = BlockKind.PARAGRAPH, page: int | None = None) -> Block:
    return Block(kind=kind, text=text, headings=headings, page=page)


def document(*blocks: Block) -> LoadedDocument:
    return LoadedDocument(source="a.md", title="A", loader="markdown", blocks=blocks)


def prose(count: int) -> str:
    return " ".join(f"The rule with the number {n} says that nobody waits longer than {n} days." for n in range(count))


def test_a_short_document_is_one_chunk() -> None:
    chunks = split(document(paragraph("It is A.", "Leave", "Parental"), paragraph("It is B.", "Leave", "Parental")))
    assert chunks == [
        Chunk(ordinal=0, text="It is A.\n\nIt is B.", headings=("Leave", "Parental"), page=None, start=0, end=18)
    ]


def test_a_document_without_text_has_no_chunks() -> None:
    assert split(document()) == []
    assert split(document(paragraph(" \n"), paragraph(""))) == []


def test_prose_is_cut_between_sentences_at_about_nine_hundred_characters() -> None:
    chunks = split(document(paragraph(prose(60), "Rules")))
    assert all(700 <= len(chunk.text) <= 900 for chunk in chunks[:-1])
    assert all(chunk.text.startswith("The rule") and chunk.text.endswith("days.") for chunk in chunks)


def test_chunks_of_one_section_share_about_a_hundred_and_fifty_characters() -> None:
    chunks = split(document(paragraph(prose(60), "Rules")))
    shared = [before.end - after.start for before, after in pairwise(chunks)]
    assert all(100 <= characters <= 150 for characters in shared)


def test_a_chunk_ends_with_a_paragraph_when_one_ends_in_its_second_half() -> None:
    chunks = split(document(paragraph(prose(9)), paragraph(prose(9)), paragraph(prose(9))), overlap=0)
    assert [chunk.text for chunk in chunks] == [prose(9)] * 3


def test_a_lead_in_stays_with_the_first_item_of_its_list() -> None:
    lead = "You need all of these:"
    items = [paragraph("- " + prose(3), kind=BlockKind.LIST_ITEM) for _ in range(3)]
    for before in (paragraph(prose(11)), paragraph("It is so " + "very " * 160 + "long")):
        chunks = split(document(before, paragraph(lead), *items), overlap=0)
        assert [chunk.text.startswith(lead) for chunk in chunks] == [False, True]


def test_an_item_or_row_is_not_cut_between_its_sentences() -> None:
    item = "- " + prose(4)
    chunks = split(document(*[paragraph(item, kind=BlockKind.LIST_ITEM)] * 6))
    assert all(chunk.text.startswith("- ") for chunk in chunks)


def test_the_page_is_the_one_where_new_text_begins() -> None:
    chunks = split(document(paragraph(prose(12), page=3), paragraph(prose(12), page=4)))
    assert [chunk.page for chunk in chunks] == [3, 4, 4]


def test_a_huge_sentence_row_or_word_is_cut_all_the_same() -> None:
    for text, kind in (
        ("and so on, " * 500, BlockKind.PARAGRAPH),
        ("City: " + "Oslo " * 1_000 + "; Rate: 80", BlockKind.TABLE_ROW),
        ("x" * 5_000, BlockKind.PARAGRAPH),
        ("call(value)\n" * 500, BlockKind.CODE),
        ("値" * 5_000, BlockKind.LIST_ITEM),
    ):
        chunks = split(document(paragraph(text, kind=kind)))
        assert len(chunks) >= 5
        assert all(0 < len(chunk.text) <= 900 for chunk in chunks)


def test_a_megabyte_takes_little_time() -> None:
    for text in (prose(14_000), "x" * 1_000_000, "word " * 200_000):
        started = time.process_time()
        split(document(paragraph(text)))
        assert time.process_time() - started < 5


pieces = st.sampled_from(
    [
        prose(1) + " ",
        prose(5) + " ",
        "Lead in: ",
        "It is A. ",
        "x" * 400,
        "very " * 60,
        "\n",
        "\n\n",
        "値です。",
        "e.g. ",
        " ",
    ]
)
blocks = st.builds(
    lambda parts, kind, heading, page: paragraph("".join(parts), *heading, kind=kind, page=page),
    st.lists(pieces, max_size=8),
    st.sampled_from(BlockKind),
    st.sampled_from([(), ("A",), ("A", "B"), ("C",)]),
    st.sampled_from([None, 1, 2]),
)
documents = st.lists(blocks, max_size=8).map(lambda found: document(*found))
sizes = st.sampled_from([(900, 150), (200, 50), (40, 10), (300, 0), (100, 99)])


@given(documents, sizes)
def test_nothing_is_lost_and_no_chunk_is_empty_or_too_long(found: LoadedDocument, size: tuple[int, int]) -> None:
    text, covered = whole_text(found), 0
    for ordinal, chunk in enumerate(split(found, size=size[0], overlap=size[1])):
        assert chunk.ordinal == ordinal
        assert chunk.text == text[chunk.start : chunk.end] == chunk.text.strip() != ""
        assert len(chunk.text) <= size[0]
        assert not text[covered : chunk.start].strip()
        assert chunk.end > covered
        covered = chunk.end
    assert not text[covered:].strip()


def test_no_chunk_repeats_the_whole_of_the_one_before() -> None:
    rule, more = "Nobody waits longer than three days.", "Whoever has waited for longer may ask the office why."
    chunks = split(document(paragraph(rule), paragraph(f"Truly. {more}")), size=70, overlap=60)
    assert chunks[0].text == rule
    assert rule not in chunks[1].text


@given(documents, sizes)
def test_the_overlap_is_bounded_and_ends_at_headings(found: LoadedDocument, size: tuple[int, int]) -> None:
    for before, after in pairwise(split(found, size=size[0], overlap=size[1])):
        shared = before.end - after.start
        assert shared <= (2 * size[1] if before.headings == after.headings else 0)
        assert before.start < after.start
