"""Slack's markup, in and out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.text.mrkdwn import channels_named, clean, decode, defuse, escape, mentioned, unescape, wordless

ME = "U0BOT"
NAMES = {"U0ANN": "Ann", "C097": "travel"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("<@U0BOT> how long is leave?", "how long is leave?"),
        ("<@U0BOT|crag> how long is leave?", "how long is leave?"),
        ("ask <@U0ANN> about it, <@U0BOT>", "ask @Ann about it,"),
        ("ask <@U0ANN|ann.b> about it", "ask @Ann about it"),
        ("ask <@U0NEW|newcomer> about it", "ask @newcomer about it"),
        ("ask <@U0GONE>", "ask @U0GONE"),
        ("what does <#C097|travel> say?", "what does #travel say?"),
        ("what does <#C097> say?", "what does #travel say?"),
        ("what does <#C098|> say?", "what does #C098 say?"),
        ("see <https://x.test/a?b=1&amp;c=2>", "see https://x.test/a?b=1&c=2"),
        ("see <https://x.test|x.test>", "see https://x.test"),
        ("see <https://x.test/p|the page>", "see the page (https://x.test/p)"),
        ("write to <mailto:a@x.test|a@x.test>", "write to a@x.test"),
        ("<!subteam^S1|@people-ops> knows", "@people-ops knows"),
        ("<!subteam^S1> knows", "@S1 knows"),
        ("<!here> <!channel|channel> look", "@here @channel look"),
        ("on <!date^1392734382^{date_short}|Feb 18, 2014>", "on Feb 18, 2014"),
        ("is 1 &lt; 2 &amp;&amp; 3 &gt; 2?", "is 1 < 2 && 3 > 2?"),
        ("&amp;lt;!channel&amp;gt;", "&lt;!channel&gt;"),
        ("`List&lt;int&gt;`", "`List<int>`"),
    ],
)
def test_a_message_reads_as_its_writer_meant_it(written: str, meant: str) -> None:
    assert decode(written, me=ME, names=NAMES) == meant


def test_people_and_unnamed_channels_are_found() -> None:
    assert mentioned("<@U0ANN> and <@W0BOB|bob>, not @carl or &lt;@U0X&gt;") == {"U0ANN", "W0BOB"}
    assert channels_named("<#C1> <#C2|> <#C3|three>") == {"C1", "C2"}


@pytest.mark.parametrize(
    "ping",
    [
        "<!channel>",
        "<!here|here>",
        "<!everyone>",
        "<@U0ANN>",
        "<@W0ANN|ann>",
        "<!subteam^S1>",
        "<#C097>",
        "@channel",
        "@Here",
        "@everyone",
        "&lt;!channel&gt;",
    ],
)
def test_no_ping_survives(ping: str) -> None:
    for made in (defuse(ping), escape(ping)):
        assert ping.lower() not in made.lower()
        assert "\u200b" in made


def test_words_that_look_like_a_ping_stay() -> None:
    assert defuse("mail me@hereford.test, @hereditary, a<b, <!-- x -->") == (
        "mail me@hereford.test, @hereditary, a<b, <!-- x -->"
    )


def test_what_is_escaped_reads_verbatim() -> None:
    assert unescape(escape('She said "hi" & left <now>')) == 'She said "hi" & left <now>'
    assert escape("a & b") == "a &amp; b"


@given(st.text(max_size=200))
def test_escaped_text_holds_no_token_and_says_the_same(text: str) -> None:
    made = escape(text)
    assert "<" not in made
    assert ">" not in made
    assert unescape(made).replace("\u200b", "") == text.replace("\u200b", "")


@given(st.text(alphabet=st.characters(), max_size=100))
def test_any_text_is_cleaned_so_that_it_can_be_stored(text: str) -> None:
    made = clean(text)
    made.encode("utf-8")
    assert "\x00" not in made


def test_surrogate_pairs_are_joined_and_lone_ones_replaced() -> None:
    assert clean("a\ud83d\ude00b") == "a😀b"
    assert clean("a\ud83db") == "a\ufffdb"
    assert clean("a\x00b\u200bc\u202ed") == "abcd"
    assert clean("👩\u200d👩\u200d👧") == "👩\u200d👩\u200d👧"


@pytest.mark.parametrize("text", ["", "  ", ":thumbsup:", ":wave::skin-tone-3: !", "👍👍", "???", "…"])
def test_text_without_words_is_told_apart(text: str) -> None:
    assert wordless(text)


@pytest.mark.parametrize("text", ["C++?", "42", "休暇は？", "كم؟", ":thumbsup: ok"])
def test_any_word_makes_a_question(text: str) -> None:
    assert not wordless(text)
