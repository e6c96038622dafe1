"""Answers as Slack messages, checked by the local Slack's own rules."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.questions import Answered
from bot.slack.views.blocks import Post, Reply, answer_reply, notice_reply, plain_posts, posts
from crag_graph.domain import Abstention, Answer, Citation, Kind, Verdict
from tests.slack_workspace.blocks import check_message
from tests.slack_workspace.clock import Clock
from tests.slack_workspace.reading import read_mrkdwn
from tests.slack_workspace.screen import Screen
from tests.slack_workspace.world import World

WORLD = World(Clock())


def citation(mark: int = 1, **fields: Any) -> Citation:
    plain = {"kind": Kind.INTERNAL, "title": "Leave", "source": "leave.md", "location": "Parents", "quote": "16 weeks"}
    return Citation(mark=mark, **{**plain, "link": "https://x.test/leave", **fields})


def answered(text: str = "Parents get **16 weeks** [1].", **fields: Any) -> Answered:
    plain = {"verdict": Verdict.CORRECT, "reason": "It says so.", "citations": (citation(),)}
    answer = Answer(text=text, **{**plain, **fields})
    return Answered(question="How long?", answer=answer, trace_id="trace-1", standalone="How long?")


def said(post: Post) -> Screen:
    return Screen.of_blocks(list(post.blocks), WORLD)


def checked(reply: Reply, *, shown: int = 0) -> tuple[Post, ...]:
    made = posts(reply, shown=shown)
    for post in made:
        check_message(list(post.blocks))
        assert 0 < len(post.text) <= 300
        assert not read_mrkdwn(post.text, WORLD, linked=True).pings
    return made


@pytest.mark.parametrize(
    ("verdict", "kinds", "line"),
    [
        (Verdict.CORRECT, [Kind.INTERNAL], "Answered from your documents"),
        (
            Verdict.AMBIGUOUS,
            [Kind.INTERNAL, Kind.WEB],
            "Your documents only partly cover this; completed from the web",
        ),
        (Verdict.AMBIGUOUS, [Kind.INTERNAL], "Your documents only partly cover this\n"),
        (Verdict.INCORRECT, [Kind.WEB], "Not in your documents; answered from the web"),
    ],
)
def test_the_verdict_is_said_in_plain_words(verdict: Verdict, kinds: list[Kind], line: str) -> None:
    cited = tuple(citation(mark, kind=kind) for mark, kind in enumerate(kinds, 1))
    (post,) = checked(answer_reply(answered(verdict=verdict, citations=cited)))
    assert line in said(post).text


def test_a_source_that_is_old_says_so_and_names_the_newer_one() -> None:
    cited = (citation(superseded=True), citation(2, newer="Leave 2026 <!channel>"))
    (post,) = checked(answer_reply(answered(citations=cited)))
    assert "[1] Leave — Parents · internal · superseded\n" in said(post).text
    assert "[2] Leave — Parents · internal · has a newer version: Leave 2026" in said(post).text


def test_sources_say_what_they_are_where_they_are_and_link_there() -> None:
    cited = (citation(1), citation(2, kind=Kind.WEB, title="A page", location="", link="https://y.test/?a=1&b=2"))
    (post,) = checked(answer_reply(answered(citations=cited)))
    assert "[1] Leave — Parents · internal\n[2] A page · web" in said(post).text
    links = [e["url"] for e in post.blocks[1]["elements"][0]["elements"] if e["type"] == "link"]
    assert links == ["https://x.test/leave", "https://y.test/?a=1&b=2"]


def test_an_answer_ends_with_its_buttons_and_speaks_in_a_notification() -> None:
    (post,) = checked(answer_reply(answered()))
    assert said(post).buttons == ("How I got here", "Helpful", "Not helpful")
    assert post.text == "Answered from your documents: Parents get 16 weeks."


def test_an_abstention_says_only_its_reason_and_next_step() -> None:
    reply = answer_reply(
        answered("I found nothing on this. Ask otherwise.", citations=(), abstention=Abstention.NOTHING_FOUND)
    )
    (post,) = checked(reply)
    assert said(post).text.startswith("I found nothing on this. Ask otherwise.\n[How I got here]")


def test_how_the_answer_was_made_is_said() -> None:
    (post,) = checked(answer_reply(answered(quoted=True, notice="The web was not reachable.")))
    assert "Quoted from the sources, word for word.\nThe web was not reachable." in said(post).text


@pytest.mark.parametrize(
    "link",
    [None, "file:///etc/passwd", "javascript:alert(1)", "https://x.test/" + "a" * 3_000, "https://[broken", "x y"],
)
def test_a_link_that_nobody_should_open_is_left_out_and_the_answer_still_posts(link: str | None) -> None:
    (post,) = checked(answer_reply(answered(citations=(citation(link=link),))))
    assert "[1] Leave — Parents · internal" in said(post).text
    assert not any(e["type"] == "link" for e in post.blocks[1]["elements"][0]["elements"])


HOSTILE = [
    "<!channel>",
    "<@U1>",
    "<https://evil.test|Leave>",
    "@here",
    "a|b>c<d&e",
    "`x` *y* _z_",
    "[x](https://e.test)",
]


@pytest.mark.parametrize("words", HOSTILE)
def test_titles_and_places_are_shown_verbatim_and_do_nothing(words: str) -> None:
    reply = answer_reply(answered("See [1].", citations=(citation(title=words, location=words, link=None),)))
    (post,) = checked(reply)
    assert f"[1] {words} — {words} · internal" in said(post).text
    assert not said(post).links
    assert not said(post).pings
    for plain in plain_posts(reply):
        assert not read_mrkdwn(plain.text, WORLD, linked=True).pings
        assert read_mrkdwn(plain.text, WORLD).links == [] or "https" in words


@pytest.mark.parametrize("words", HOSTILE[:4])
def test_text_of_a_document_pings_nobody_and_forges_no_link(words: str) -> None:
    (post,) = checked(answer_reply(answered(f"It says {words} [1].")))
    assert not said(post).pings
    assert all(one.label == one.url for one in said(post).links)


def test_what_was_said_is_shown_verbatim() -> None:
    (post,) = checked(answer_reply(answered('She said "hi" & left <now> [1].')))
    assert said(post).text.startswith('She said "hi" & left <now> [1].')


def test_sixty_sources_keep_to_every_limit_and_the_buttons_come_last() -> None:
    cited = tuple(citation(mark, title=f"A rather long title of document {mark} " * 4) for mark in range(1, 61))
    made = checked(answer_reply(answered("word " * 400, citations=cited)))
    shown = "\n".join(said(post).text for post in made)
    assert [f"[{mark}] A rather" in shown for mark in range(1, 61)] == [True] * 60
    assert said(made[-1]).buttons == ("How I got here", "Helpful", "Not helpful")


@pytest.mark.parametrize("size", [3_001, 4_001, 12_001, 13_200, 14_000, 40_001])
@pytest.mark.parametrize("unit", ["word ", "A sentence ends here. ", "A paragraph.\n\n", "漢字。"])
def test_a_long_answer_is_delivered_whole_and_in_order(size: int, unit: str) -> None:
    text = (unit * size)[:size]
    made = checked(answer_reply(answered(text)))
    body = "".join(b["text"] for post in made for b in post.blocks if b["type"] == "markdown")
    assert "".join(body.split()) == "".join(text.split())
    assert "Continued" in made[-1].text or len(made) == 1


@given(st.integers(0, 9_000), st.integers(0, 30_000))
def test_what_is_shown_already_is_not_said_again(shown: int, size: int) -> None:
    text = ("word " * (size // 5 + 1))[:size].strip() + "."
    shown = min(shown, len(text))
    made = posts(answer_reply(answered(text)), shown=shown)
    body = text[:shown] + "".join(b["text"] for post in made for b in post.blocks if b["type"] == "markdown")
    assert "".join(body.split()) == "".join(text.split())
    first = sum(len(b["text"]) for b in made[0].blocks if b["type"] == "markdown")
    assert first + shown <= 12_000


@pytest.mark.parametrize("size", [0, 3_901, 40_001])
def test_without_blocks_everything_is_said_in_text(size: int) -> None:
    reply = answer_reply(answered(("word " * size)[:size] + "end"))
    made = plain_posts(reply)
    assert all(len(post.text) <= 4_000 for post in made)
    assert made[-1].blocks == reply.closing[-2:]
    text = "\n".join(post.text for post in made)
    assert text.count("end") == 1
    assert "[1] <https://x.test/leave|Leave> — Parents · internal" in text


def test_a_notice_has_no_buttons() -> None:
    (post,) = checked(notice_reply("Ask me something."))
    assert said(post).text == "Ask me something."
    assert plain_posts(notice_reply("a < b")) == (Post(text="a &lt; b"),)


TABLE = "| | weeks |\n|---|---|\n| birth | 16 |\n| adoption | 16 |"


def test_tables_code_and_lists_are_rendered_and_no_markup_is_seen() -> None:
    text = f"Two tables:\n\n{TABLE}\n\nand\n\n{TABLE}\n\n```python\nif a < b: pass\n```\n\n- one\n- two [1]\n\n値は３．１４です。"
    (post,) = checked(answer_reply(answered(text)))
    screen = said(post).text
    assert screen.count(" │ weeks\nbirth │ 16\nadoption │ 16") == 2
    assert "if a < b: pass" in screen
    assert "• one\n• two [1]" in screen
    assert "値は３．１４です。" in screen
    assert not any(mark in screen for mark in ("|---", "```", "**", "&lt;", "\\"))


def test_a_table_that_is_longer_than_a_message_stays_a_table() -> None:
    rows = "\n".join(f"| row {number} | {'x' * 60} |" for number in range(300))
    made = checked(answer_reply(answered(f"| name | value |\n|---|---|\n{rows}")))
    screen = "\n".join(said(post).text for post in made)
    assert [f"row {number} │ {'x' * 60}" in screen for number in range(300)] == [True] * 300
    assert "|" not in screen


def test_links_of_the_answer_lead_where_they_say() -> None:
    text = "See [the guide](https://x.test/leave), [[1]](https://y.test/a(b)) and [that](https://evil.test) [1]."
    (post,) = checked(answer_reply(answered(text)))
    assert said(post).text.startswith("See the guide, [1] (https://y.test/a(b)) and that (https://evil.test) [1].")
    assert said(post).links[0].url == "https://x.test/leave"
    assert all(link.label == link.url for link in said(post).links[1:])


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Parents get **16 weeks** [1].", "Parents get 16 weeks."),
        ("Read `my_file_name.md` in #travel [2].", "Read my_file_name.md in #travel."),
        ("# Leave\n\n- *Sixteen* weeks\n- __paid__", "Leave Sixteen weeks paid"),
        ("> See [the rules](https://x.test/a_b).", "See the rules."),
        ("2 * 3 * 4 = 24, and ~~not~~ 25", "2 * 3 * 4 = 24, and not 25"),
    ],
)
def test_what_is_spoken_is_the_text_without_its_markup(written: str, spoken: str) -> None:
    (post,) = posts(notice_reply(written))
    assert post.text == spoken


def test_a_hostile_answer_is_spoken_in_no_time() -> None:
    (post, *_) = checked(answer_reply(answered("*a" * 20_000 + " [1]")))
    assert len(post.text) < 300
