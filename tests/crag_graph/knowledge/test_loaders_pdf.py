import asyncio
import re
from collections.abc import Sequence

import pytest
from fpdf import FPDF

from crag_graph.knowledge.documents import LoadedDocument
from crag_graph.knowledge.errors import EncryptedError, NoTextError, TooLargeError, UnreadableError
from crag_graph.knowledge.loaders.load import Limits, load

LONG = "The rule says that nobody waits longer than three days for an answer, whatever the question was about. "


def paper() -> FPDF:
    made = FPDF()
    made.set_auto_page_break(auto=True, margin=20)
    made.add_page()
    return made


def write(made: FPDF, text: str, size: float = 11) -> None:
    made.set_font("helvetica", size=size)
    made.multi_cell(0, size * 0.5, text, new_x="LMARGIN", new_y="NEXT", align="L")
    made.ln(3)


async def loaded(made: FPDF, **limits: int) -> LoadedDocument:
    return await load("travel-rules.pdf", bytes(made.output()), limits=Limits(**limits))


async def blocks(made: FPDF) -> list[tuple[int | None, str, tuple[str, ...], str]]:
    return [(block.page, block.kind.value, block.headings, block.text) for block in (await loaded(made)).blocks]


async def test_larger_lines_are_headings_and_wrapped_lines_one_paragraph() -> None:
    made = paper()
    write(made, "Travel", 22)
    write(made, "Trains", 15)
    write(made, LONG * 3)
    write(made, "It is paid.")
    write(made, "Night trains", 13)
    write(made, LONG)
    made.add_page()
    write(made, "Hotels", 15)
    write(made, LONG)
    assert (await loaded(made)).title == "Travel"
    assert await blocks(made) == [
        (1, "paragraph", ("Trains",), (LONG * 3).strip()),
        (1, "paragraph", ("Trains",), "It is paid."),
        (1, "paragraph", ("Trains", "Night trains"), LONG.strip()),
        (2, "paragraph", ("Hotels",), LONG.strip()),
    ]


async def test_a_table_gives_rows_with_their_header() -> None:
    made = paper()
    write(made, LONG)
    made.set_font("helvetica", size=10)
    rows = [
        ("City", "Rate", "Note"),
        ("Oslo", "80", "cold, and a remark that is so long that it has to be wrapped"),
        ("Rome", "", "warm"),
    ]
    with made.table(rows, text_align="LEFT", v_align="T"):
        pass
    write(made, LONG)
    assert [text for _, kind, _, text in await blocks(made) if kind == "table_row"] == [
        "City: Oslo; Rate: 80; Note: cold, and a remark that is so long that it has to be wrapped",
        "City: Rome; Note: warm",
    ]


async def test_list_items_are_blocks_of_their_own() -> None:
    made = paper()
    write(made, LONG)
    for item in ("- one", "- two " + LONG, "1. three"):
        write(made, item)
    assert [text for _, kind, _, text in await blocks(made) if kind == "list_item"] == [
        "- one",
        ("- two " + LONG).strip(),
        "1. three",
    ]


class _WithRunningTitles(FPDF):
    def header(self) -> None:
        self.set_font("helvetica", size=9)
        self.cell(0, 8, "Marrowby handbook, internal", new_x="LMARGIN", new_y="NEXT")

    def footer(self) -> None:
        self.set_y(-15)
        self.set_font("helvetica", size=9)
        self.cell(0, 8, f"Page {self.page_no()} of many")


async def test_running_headers_and_footers_are_left_out() -> None:
    made = _WithRunningTitles()
    for page in range(4):
        made.add_page()
        write(made, f"The text of page {page} is its own. {LONG * page}")
    assert [text for _, _, _, text in await blocks(made)] == [
        f"The text of page {page} is its own. {LONG * page}".strip() for page in range(4)
    ]


async def test_a_sentence_goes_on_over_a_page_break() -> None:
    made = paper()
    write(made, "The text begins on the first page and goes")
    made.add_page()
    write(made, "on where the second begins.")
    assert [(page, text) for page, _, _, text in await blocks(made)] == [
        (1, "The text begins on the first page and goes on where the second begins.")
    ]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("All about trains", "All about trains"),
        ("Microsoft Word - x.docx", "travel rules"),
        ("scan.pdf", "travel rules"),
        ("", "travel rules"),
    ],
)
async def test_the_title_of_the_properties_counts_unless_a_program_made_it_up(written: str, title: str) -> None:
    made = paper()
    made.set_title(written)
    write(made, LONG)
    assert (await loaded(made)).title == title


async def test_a_file_with_a_password_says_so() -> None:
    made = paper()
    write(made, LONG)
    made.set_encryption(owner_password="owner", user_password="user")
    with pytest.raises(EncryptedError, match="password"):
        await loaded(made)


async def test_a_file_that_only_forbids_printing_is_read() -> None:
    made = paper()
    write(made, LONG)
    made.set_encryption(owner_password="owner")
    assert [text for _, _, _, text in await blocks(made)] == [LONG.strip()]


async def test_a_scan_without_text_is_refused() -> None:
    made = paper()
    made.rect(10, 10, 50, 50)
    with pytest.raises(NoTextError, match="scan"):
        await loaded(made)


async def test_too_many_pages_are_refused() -> None:
    made = paper()
    made.add_page()
    with pytest.raises(TooLargeError, match="2 pages; 1 are allowed"):
        await loaded(made, pages=1)


def _truncated(data: bytes) -> Sequence[bytes]:
    return [data[: len(data) // 3], data[:40], re.sub(rb"/Pages", b"/Pagos", data)]


async def test_a_damaged_file_is_refused() -> None:
    made = paper()
    write(made, LONG)
    for data in _truncated(bytes(made.output())):
        with pytest.raises((UnreadableError, NoTextError)):
            await load("a.pdf", data)


async def test_several_files_can_be_read_at_once() -> None:
    made = paper()
    write(made, LONG)
    data = bytes(made.output())
    documents = await asyncio.gather(*(load("a.pdf", data) for _ in range(8)))
    assert {document.blocks[0].text for document in documents} == {LONG.strip()}
