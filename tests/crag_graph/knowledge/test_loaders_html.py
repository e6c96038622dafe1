import pytest

from crag_graph.knowledge.documents import LoadedDocument
from crag_graph.knowledge.errors import NoTextError
from crag_graph.knowledge.loaders.load import load


async def page(markup: str) -> LoadedDocument:
    return await load("page.html", markup.encode())


async def blocks(markup: str) -> list[tuple[str, tuple[str, ...], str]]:
    return [(block.kind.value, block.headings, block.text) for block in (await page(markup)).blocks]


async def test_only_the_main_content_is_read() -> None:
    document = await page(
        "<html><head><title>Travel – intranet</title><style>p{}</style></head><body><nav>Home</nav><header>Logo</header>"
        "<main><h1>Travel</h1><nav>On this page</nav><p>Take <b>the</b>\n train.</p><script>x()</script>"
        "<p hidden>Never</p><noscript>Nor this</noscript></main><aside>Advert</aside><footer>Imprint</footer></body></html>"
    )
    assert (document.title, document.loader) == ("Travel", "html")
    assert [block.text for block in document.blocks] == ["Take the train."]


async def test_without_a_mark_of_the_main_content_what_stands_around_is_left_out() -> None:
    assert await blocks(
        "<title>T</title><header><div>Logo</div></header><div role=navigation>Menu</div><div>Text <a href=x>here</a>.</div>"
        "<aside>Advert</aside><footer>Imprint</footer>"
    ) == [("paragraph", (), "Text here.")]


async def test_a_page_that_is_all_footer_is_read_all_the_same() -> None:
    assert await blocks("<footer>All there is</footer>") == [("paragraph", (), "All there is")]


async def test_headings_lists_tables_and_code_keep_their_kind() -> None:
    assert await blocks(
        "<h1>A</h1><h2>B¶</h2>You need:<ul><li>one<ul><li>two</ul>after<li><p>three</p></ul>"
        "<ol><li>first<li>second</ol><dl><dt>Word<dd>Meaning</dl><pre>x = 1\n  y</pre>"
        "<table><caption>Rates</caption><tr><th>City<th>Rate<tr><td>Oslo<td>80 <br>€</table><h3>C</h3>end"
    ) == [
        ("paragraph", ("B",), "You need:"),
        ("list_item", ("B",), "- one"),
        ("list_item", ("B",), "- two"),
        ("paragraph", ("B",), "after"),
        ("list_item", ("B",), "- three"),
        ("list_item", ("B",), "1. first"),
        ("list_item", ("B",), "2. second"),
        ("list_item", ("B",), "- Word: Meaning"),
        ("code", ("B",), "x = 1\n  y"),
        ("paragraph", ("B",), "Rates"),
        ("table_row", ("B",), "City: Oslo; Rate: 80 €"),
        ("paragraph", ("B", "C"), "end"),
    ]


async def test_cells_that_span_rows_and_columns_are_repeated() -> None:
    assert [
        text
        for _, _, text in await blocks(
            "<table><tr><th>Land<th>City<th>Day<th>Night<tr><td rowspan=2>Norway<td>Oslo<td colspan=2>80"
            "<tr><td>Bergen<td>70<td>90</table>"
        )
    ] == ["Land: Norway; City: Oslo; Day: 80; Night: 80", "Land: Norway; City: Bergen; Day: 70; Night: 90"]


async def test_a_table_without_header_cells_is_read_by_how_it_looks() -> None:
    rows = "<tr><td>{}<td>{}<td>{}</tr>"
    named = "<table>" + rows.format("City", "Rate", "Note") + rows.format("Oslo", "80", "cold") + "</table>"
    assert [text for _, _, text in await blocks(named)] == ["City: Oslo; Rate: 80; Note: cold"]
    bare = "<table>" + rows.format("Oslo", "80", "cold") + rows.format("Rome", "60", "warm") + "</table>"
    assert [text for _, _, text in await blocks(bare)] == ["Oslo; 80; cold", "Rome; 60; warm"]
    assert [text for _, _, text in await blocks("<table><tr><td>Phone<td>117<tr><td>Room<td>4</table>")] == [
        "Phone: 117",
        "Room: 4",
    ]


async def test_a_table_that_lays_out_the_page_is_no_table() -> None:
    assert [
        text
        for _, _, text in await blocks(
            "<table><tr><td><p>Left.</p><td><table><tr><td>a<td>b</table><p>Right.</p></table>"
        )
    ] == ["Left.", "a: b", "Right."]


async def test_line_breaks_separate_lines_and_two_of_them_paragraphs() -> None:
    assert [text for _, _, text in await blocks("One<br>two<br><br>three")] == ["One\ntwo", "three"]


async def test_the_page_says_in_which_encoding_it_is() -> None:
    markup = '<meta charset="iso-8859-2"><p>Zażółć'
    assert [block.text for block in (await load("a.html", markup.encode("iso-8859-2"))).blocks] == ["Zażółć"]
    named = await load("https://x.example/", "<p>Привет".encode("koi8-r"), content_type="text/html; charset=koi8-r")
    assert [block.text for block in named.blocks] == ["Привет"]


@pytest.mark.parametrize(
    "markup", ["<html></html>", "<div id=app></div><script>run()</script>", "<!doctype html><!-- x -->"]
)
async def test_a_page_without_text_is_refused(markup: str) -> None:
    with pytest.raises(NoTextError):
        await page(markup)


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 50_000 + "x",
        "<table><tr><td colspan=999999999>x<td rowspan=99999>y</table>",
        "<b>" * 20_000 + "x",
        "<ul><li>" * 5_000 + "x",
        "<!-- " * 1_000 + "-->x",
        "<!--" + "<!-- -->" * 2_000 + "x",
    ],
)
async def test_hostile_markup_is_read_in_bounded_time(markup: str) -> None:
    assert (await page("<p>y</p>" + markup)).blocks
