import io
import zipfile
from collections.abc import Callable

import pytest
from docx import Document
from docx.document import Document as WordDocument
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from crag_graph.knowledge.documents import LoadedDocument
from crag_graph.knowledge.errors import EncryptedError, NoTextError, TooLargeError, UnreadableError, UnsupportedError
from crag_graph.knowledge.loaders.load import Limits, load


def saved(document: WordDocument) -> bytes:
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


async def loaded(document: WordDocument) -> LoadedDocument:
    return await load("travel-rules.docx", saved(document))


async def blocks(document: WordDocument) -> list[tuple[str, tuple[str, ...], str]]:
    return [(block.kind.value, block.headings, block.text) for block in (await loaded(document)).blocks]


def add(document: WordDocument, xml: str) -> None:
    """Puts an element in front of the properties that end the body."""
    name_ends = xml.index(">")
    document.element.body.insert(-1, parse_xml(f"{xml[:name_ends]} {nsdecls('w')}{xml[name_ends:]}"))


async def test_headings_lists_and_tables_come_in_reading_order() -> None:
    document = Document()
    document.add_heading("Travel", 0)
    document.add_paragraph("Take the train.")
    document.add_heading("Rates", 1)
    table = document.add_table(rows=2, cols=3)
    for row, texts in zip(table.rows, (("City", "Rate", "Note"), ("Oslo", "80", "cold")), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    document.add_heading("Trips", 2)
    document.add_paragraph("one", style="List Bullet")
    document.add_paragraph("two", style="List Number")
    assert (await loaded(document)).title == "Travel"
    assert await blocks(document) == [
        ("paragraph", (), "Take the train."),
        ("table_row", ("Rates",), "City: Oslo; Rate: 80; Note: cold"),
        ("list_item", ("Rates", "Trips"), "- one"),
        ("list_item", ("Rates", "Trips"), "- two"),
    ]


async def test_a_document_without_a_title_takes_it_from_its_properties_or_its_name() -> None:
    document = Document()
    document.core_properties.title = ""
    document.add_heading("One", 1)
    document.add_paragraph("Text.")
    document.add_heading("Two", 1)
    document.add_paragraph("Text.")
    assert (await loaded(document)).title == "travel rules"
    assert [headings for _, headings, _ in await blocks(document)] == [("One",), ("Two",)]
    document.core_properties.title = "All about trains"
    assert (await loaded(document)).title == "All about trains"


async def test_the_state_in_the_properties_is_kept() -> None:
    document = Document()
    document.add_paragraph("Text.")
    document.core_properties.content_status = "Archived"
    assert (await loaded(document)).properties == "Archived"


async def test_deleted_text_is_left_out_and_inserted_text_and_content_controls_are_read() -> None:
    document = Document()
    add(
        document,
        "<w:p><w:r><w:t xml:space='preserve'>You get </w:t></w:r><w:del><w:r><w:delText>20</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>27</w:t></w:r></w:ins><w:r><w:tab/><w:t>days</w:t></w:r></w:p>",
    )
    add(document, "<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>")
    assert [text for _, _, text in await blocks(document)] == ["You get 27 days", "In a control."]


async def test_a_table_that_lays_out_the_page_is_no_table() -> None:
    document = Document()
    cell = document.add_table(rows=1, cols=1).cell(0, 0)
    cell.text = "A framed paragraph."
    assert await blocks(document) == [("paragraph", (), "A framed paragraph.")]


async def test_an_empty_document_is_refused() -> None:
    with pytest.raises(NoTextError, match="pictures"):
        await loaded(Document())


def member(name: str, content: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return written.getvalue()


def damaged(change: Callable[[bytes], bytes]) -> bytes:
    """A Word document whose text part was changed."""
    document = Document()
    document.add_paragraph("Text.")
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(document))) as old, zipfile.ZipFile(written, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name == "word/document.xml" else content)
    return written.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04" + b"rubbish" * 100,
        b"no archive at all",
        member("readme.txt", b"an archive, but no document"),
        saved(Document())[:2000],
        damaged(lambda xml: xml[:200]),
        damaged(lambda _: b""),
        damaged(lambda _: b"<x/>"),
        damaged(lambda xml: xml.replace(b"w:body", b"w:bdy")),
    ],
)
async def test_garbage_with_the_name_of_a_word_document_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError, match="damaged"):
        await load("a.docx", data)


async def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(TooLargeError, match="Unpacked"):
        await load("a.docx", member("word/document.xml", b"x" * 2_000_000), limits=Limits(unpacked=1_000_000))


async def test_an_entity_bomb_does_not_explode() -> None:
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE x [<!ENTITY a0 "x">{levels}]>'.encode()
    with pytest.raises((UnreadableError, NoTextError)):
        await load("a.docx", damaged(lambda _: bomb + b"<x>&a11;</x>"))


async def test_a_file_with_a_password_says_so_and_an_old_one_what_to_do() -> None:
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
    with pytest.raises(EncryptedError, match="password"):
        await load("a.docx", old + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(UnsupportedError, match="save it as DOCX"):
        await load("a.docx", old)
