import codecs
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag_graph.knowledge.documents import BlockKind, LoadedDocument
from crag_graph.knowledge.errors import (
    DocumentError,
    NoTextError,
    TooLargeError,
    UnknownEncodingError,
    UnreadableError,
    UnsupportedError,
)
from crag_graph.knowledge.loaders.load import Limits, load, supported

SIGN_IN = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><form>Password</form></body></html>"


def texts(document: LoadedDocument, kind: BlockKind | None = None) -> list[str]:
    return [block.text for block in document.blocks if kind in {None, block.kind}]


async def text_of(data: bytes, name: str = "a.txt") -> str:
    return "\n\n".join(texts(await load(name, data)))


async def test_markdown_gives_headings_paragraphs_items_rows_and_code() -> None:
    document = await load(
        "notes/leave_policy.md",
        b"# Leave\n\nIt is *paid*, see [the form](https://x.example/f).\nAsk early.\n\n## Types\n\nYou get:\n\n- birth\n"
        b"  - twins\n- move\n\n  Once a year.\n3. ask\n4. wait\n\n### Rates\n\n| City | Rate |\n|---|---|\n| Oslo | **80** |\n"
        b"| Rome | |\n\n```sh\n  crag ask\n```\n\n> Quoted.\n\n![a plan](plan.png)\n",
    )
    assert (document.title, document.loader, document.source) == ("Leave", "markdown", "notes/leave_policy.md")
    assert [(block.kind.value, block.headings, block.text) for block in document.blocks] == [
        ("paragraph", (), "It is paid, see the form.\nAsk early."),
        ("paragraph", ("Types",), "You get:"),
        ("list_item", ("Types",), "- birth"),
        ("list_item", ("Types",), "- twins"),
        ("list_item", ("Types",), "- move\nOnce a year."),
        ("list_item", ("Types",), "3. ask"),
        ("list_item", ("Types",), "4. wait"),
        ("table_row", ("Types", "Rates"), "City: Oslo; Rate: 80"),
        ("table_row", ("Types", "Rates"), "City: Rome"),
        ("code", ("Types", "Rates"), "  crag ask"),
        ("paragraph", ("Types", "Rates"), "Quoted."),
        ("paragraph", ("Types", "Rates"), "a plan"),
    ]


async def test_front_matter_gives_the_title_and_stays_out_of_the_text() -> None:
    document = await load(
        "a.md", b'---\ntitle: "Leave: all of it"\nstatus: archived\n---\n# One\n\nText.\n\n# Two\n\nMore.\n'
    )
    assert document.title == "Leave: all of it"
    assert "status: archived" in document.properties
    assert [(block.headings, block.text) for block in document.blocks] == [(("One",), "Text."), (("Two",), "More.")]


async def test_html_within_markdown_is_read() -> None:
    document = await load(
        "a.md", b"# A\n\n<table><tr><th>City</th><th>Rate</th></tr><tr><td>Oslo<td>80</table>\n\nOne<br>two"
    )
    assert texts(document) == ["City: Oslo; Rate: 80", "One two"]


async def test_the_title_is_the_one_heading_above_all_others_or_the_name_of_the_file() -> None:
    assert (await load("x/travel-policy_2022.md", b"# One\n\nText.\n\n# Two\n\nText.")).title == "travel policy 2022"
    assert (await load("x/travel-policy_2022.txt", b"Text.")).title == "travel policy 2022"


async def test_a_heading_without_text_below_it_is_not_lost() -> None:
    document = await load("a.md", b"# A\n\n## Is it free?\n\n## Is it fast?\n\nYes.\n\n## And then")
    assert texts(document) == ["Is it free?", "Yes.", "And then"]


async def test_plain_text_keeps_wrapped_lines_together() -> None:
    document = await load(
        "a.txt",
        b"Leave\n=====\nEveryone gets leave\nof some days.\n\nYou need:\n- a form\n  from the desk\n- time\n\n"
        b"City\tRate\nOslo\t80\n\n\x0cPage two.",
    )
    assert document.title == "Leave"
    assert [(block.kind.value, block.text) for block in document.blocks] == [
        ("paragraph", "Everyone gets leave\nof some days."),
        ("paragraph", "You need:"),
        ("list_item", "- a form\nfrom the desk"),
        ("list_item", "- time"),
        ("table_row", "City Rate"),
        ("table_row", "Oslo 80"),
        ("paragraph", "Page two."),
    ]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Grüße – “so” 3 €", "utf-8"),
        ("Grüße – “so” 3 €", "utf-8-sig"),
        ("Grüße aus Köln, das kostet 3 Münzen.", "latin-1"),
        ("café", "latin-1"),
        ("L’été, déjà passé à Genève – 3 €.", "cp1252"),
        ("Grüße – 日本語", "utf-16"),
        ("Grüße – 日本語", "utf-32"),
        ("Привет, как дела? Это обычный документ.", "cp1251"),
        ("これは日本語の文書です。二番目の文もあります。", "shift_jis"),
        ("Zażółć gęślą jaźń, a potem wróć do domu.", "cp1250"),
    ],
)
async def test_text_is_read_in_the_encoding_that_it_has(text: str, encoding: str) -> None:
    assert await text_of(text.encode(encoding)) == text


async def test_utf_16_without_a_mark_is_recognised() -> None:
    assert await text_of("A plain sentence in UTF-16.".encode("utf-16-le")) == "A plain sentence in UTF-16."


async def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(UnknownEncodingError, match="UTF-8"):
        await load("a.txt", bytes(range(256)) * 20)


async def test_nul_bytes_and_lone_surrogates_are_removed_before_offsets_exist() -> None:
    assert await text_of(b"a\x00b is c \x07d. " + b"More of it. " * 9) == "ab is c d. " + " ".join(["More of it."] * 9)
    assert await text_of(b"a\x00b") == "ab"
    for markup in (b"<p>a&#xD800;b\x00c</p>", b"<p>a\x00b&#0;c</p>"):
        assert (await text_of(markup, "a.html")).isprintable()


async def test_nothing_in_a_file_is_an_error() -> None:
    for name in ("a.txt", "a.md", "a.html", "a.pdf", "a.docx"):
        for data in (b"", b" \n"):
            with pytest.raises(NoTextError, match="empty"):
                await load(name, data)
    with pytest.raises(NoTextError):
        await load("a.md", b"---\ntitle: A\n---\n\n<!-- nothing -->")
    with pytest.raises(NoTextError):
        await load("a.txt", codecs.BOM_UTF8)


async def test_a_sign_in_page_named_like_a_file_is_refused() -> None:
    for name in ("report.pdf", "report.docx", "notes.md", "notes.txt"):
        with pytest.raises(UnreadableError, match="signing in"):
            await load(name, b"\n<!-- a comment --> " + SIGN_IN)
    with pytest.raises(UnreadableError, match="signing in"):
        await load("https://x.example/report.pdf", SIGN_IN, content_type="text/html")


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "https://x.example/a.PDF?x=1#y", "a.txt"])
async def test_content_of_another_kind_is_refused(name: str) -> None:
    for data in (b"just text", b"PK\x03\x04 rubbish", b"%PDF-1.7 rubbish"):
        if name == "a.txt" and data == b"just text":
            continue
        with pytest.raises(UnreadableError):
            await load(name, data)


async def test_an_address_without_an_ending_is_loaded_by_its_content_type_or_its_content() -> None:
    assert (await load("https://x.example/page", b"<p>Text.", content_type="text/html; charset=utf-8")).loader == "html"
    assert (await load("https://x.example", b"# A\n\nText.", content_type="text/markdown")).loader == "markdown"
    assert (await load("https://x.example/page.php", b"<p>Text.", content_type="text/html")).loader == "html"
    assert (await load("https://x.example/page", b"<!doctype html><p>Text.")).loader == "html"
    assert (await load("https://x.example/raw/a.md", b"# A\n\nText.", content_type="text/plain")).loader == "markdown"


@pytest.mark.parametrize("name", ["a.xyz", "a", "a.py", ".gitignore"])
async def test_other_kinds_are_not_supported_and_the_message_says_what_is(name: str) -> None:
    assert not supported(name)
    with pytest.raises(UnsupportedError, match="Markdown, text, HTML, PDF and DOCX"):
        await load(name, b"some text")


async def test_a_file_beyond_the_limit_is_refused() -> None:
    with pytest.raises(TooLargeError, match="1,001 bytes; 1,000 are allowed"):
        await load("a.txt", b"x" * 1_001, limits=Limits(size=1_000))
    with pytest.raises(TooLargeError, match="1,001 bytes of text"):
        await load("a.md", b"x" * 1_001, limits=Limits(text=1_000))
    cell = f"<td rowspan=100>{'x' * 500}</td>"
    spanning = f"<table><tr>{cell * 2}</tr>{'<tr><td>y</td></tr>' * 9}</table>".encode()
    with pytest.raises(TooLargeError, match="more than 3,000 characters"):
        await load("a.html", spanning, limits=Limits(text=3_000))


@given(st.sampled_from(["a.md", "a.txt", "a.html", "a.pdf", "a.docx", "a"]), st.binary(max_size=200), st.booleans())
async def test_whatever_the_bytes_are_there_is_a_document_or_one_clear_error(
    name: str, data: bytes, magic: bool
) -> None:
    data = (b"%PDF-1.4\n" if name == "a.pdf" and magic else b"") + data
    with contextlib.suppress(DocumentError):
        assert (await load(name, data)).blocks


marks = st.sampled_from(
    ["# ", "- ", "1. ", "| a | b |\n", "|---|---|\n", "```", "> ", "<div>", "</p>", "<!--", "\n", "\n\n", "  "]
)


@given(st.lists(st.one_of(marks, st.text(max_size=5)), max_size=30).map("".join))
async def test_any_markdown_and_html_can_be_read(source: str) -> None:
    data = source.encode("utf-8", "replace")
    for name in ("a.md", "a.html"):
        with contextlib.suppress(DocumentError):
            assert all(block.text == block.text.strip("\n") != "" for block in (await load(name, data)).blocks)
