"""Answers as Slack's `markdown` block may show them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.slack.text.markdown import link, make_safe

Z = "\u200b"


@pytest.mark.parametrize(
    ("written", "safe"),
    [
        ('She said "hi" & left <now>', 'She said "hi" & left &lt;now>'),
        ("1 < 2 & 3 > 2", "1 &lt; 2 & 3 > 2"),
        ("> quoted\n- listed", "> quoted\n- listed"),
        ("AT&T, R&D; fish &amp; chips &lt;b&gt;", "AT&T, R&D; fish &amp;amp; chips &amp;lt;b&amp;gt;"),
        ("see <https://x.test/a>", "see https://x.test/a"),
        ("see https://x.test/a", "see https://x.test/a"),
        ("see <https://evil.test|our handbook>", "see &lt;https://evil.test|our handbook>"),
        ("[our handbook](https://evil.test)", "our handbook (https://evil.test)"),
        ("[https://evil.test](https://evil.test)", "https://evil.test"),
        ("![pixel](https://evil.test/p.png)", "pixel (https://evil.test/p.png)"),
        ('[a](https://evil.test "title")', "a (https://evil.test)"),
        ("[a](<https://evil.test>)", "a (https://evil.test)"),
        ("[1](https://evil.test)", "1 (https://evil.test)"),
        ("[[1]](https://evil.test/Card(s) Guide.pdf)", "[1] (https://evil.test/Card(s) Guide.pdf)"),
        ("[1]: https://evil.test", f"[1]{Z}: https://evil.test"),
        ("> [1]: https://evil.test", f"> [1]{Z}: https://evil.test"),
        ("<!channel> <@U1> <#C1|x>", "&lt;!channel> &lt;@U1> &lt;#C1|x>"),
        ("@here and @channel", f"@{Z}here and @{Z}channel"),
        ("&lt;!channel&gt;", "&amp;lt;!channel&amp;gt;"),
        ("`List<int>` & `<@U1>`", f"`List<int>` & `<{Z}@U1>`"),
        ("``a ` <b>``", "``a ` <b>``"),
        ("```html\n<b>&amp;</b>\n<!channel>\n```\n<b>", f"```html\n<b>&amp;</b>\n<{Z}!channel>\n```\n&lt;b>"),
        ("```\n<b>", "```\n<b>"),
        ("~~~\n```\n<b>\n~~~\n<i>", "~~~\n```\n<b>\n~~~\n&lt;i>"),
        ("| a | b |\n|---|---|\n|  | `x<y` |", "| a | b |\n|---|---|\n|  | `x<y` |"),
        ("値は３．１４です。**次**です。", "値は３．１４です。**次**です。"),
    ],
)
def test_markdown_shows_what_it_says(written: str, safe: str) -> None:
    assert make_safe(written) == safe


def test_a_link_to_a_source_of_the_answer_stays_a_link() -> None:
    address = "https://x.test/Access Card(s) Guide.pdf"
    assert (
        make_safe(f"[the guide]({address})", {address})
        == "[the guide](https://x.test/Access%20Card%28s%29%20Guide.pdf)"
    )
    assert make_safe("![x](https://x.test)", {"https://x.test"}) == "x (https://x.test)"


def test_no_label_or_target_ends_a_link_early() -> None:
    assert link("a [b] \\ <c>", "https://x.test/(a)|b>c d?e=1&f=2#g") == (
        "[a \\[b\\] \\\\ &lt;c>](https://x.test/%28a%29%7Cb%3Ec%20d?e=1&f=2#g)"
    )


PIECES = (
    "<!channel>",
    "<@U1>",
    "&lt;!here&gt;",
    "<https://e.test|x>",
    "https://x.test",
    "[1]:",
    "&amp;",
    "word",
    "é",
    "。",
)
FRAGMENTS = st.sampled_from([*PIECES, *"`[]()<>!|\\ \n", "``", "[a](", "```\n", "~~~\n", " @everyone "])


@given(st.lists(FRAGMENTS, max_size=40).map("".join))
@example("`<!``")
def test_nothing_that_is_put_together_pings(text: str) -> None:
    made = make_safe(text).lower()
    for ping in ("<!", "<@u", "<#c", " @everyone ", "&lt;!here", "<https"):
        assert ping not in made.replace("&lt;!channel", "").replace("&amp;lt;!here", "")


@given(st.lists(FRAGMENTS, max_size=40).map("".join), st.lists(FRAGMENTS, max_size=10).map("".join))
def test_a_finished_line_reads_the_same_whatever_follows(text: str, more: str) -> None:
    before = make_safe("safe line\n")
    assert make_safe(f"safe line\n{text}{more}").startswith(before)


@pytest.mark.parametrize(
    "text", ["`" * 20_000, "[" * 20_000, "[a](" * 8_000, "<" * 20_000, "~~~\n" * 8_000, "` `` " * 8_000]
)
@pytest.mark.timeout(5)
def test_hostile_repetition_takes_no_long_time(text: str) -> None:
    make_safe(text)
