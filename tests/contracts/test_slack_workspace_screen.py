"""What the renderer says that a person sees of a message: text, links, pings, buttons."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.slack_workspace import Message, SlackWorkspace
from tests.slack_workspace.connect import client
from tests.slack_workspace.reading import Link


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace() as slack:
        yield slack


async def posted(slack: SlackWorkspace, **what: Any) -> Message:
    general = slack.channel("general", members=[slack.bot])
    await client(slack).chat_postMessage(channel=general.id, **what)
    return slack.messages(general)[-1]


@pytest.mark.parametrize(
    ("mrkdwn", "screen"),
    [
        ("*bold* _italic_ ~gone~ `code *raw*`", "bold italic gone code *raw*"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        ("AT&amp;T &lt;now&gt;", "AT&T <now>"),
        ("&amp;amp; &quot;", "&amp; &quot;"),
        ("*<https://example.com|bold link>*", "bold link"),
        ("see <https://example.com/a?b&amp;c|the page>", "see the page"),
        ("[[1]](https://example.com)", "[[1]](https://example.com)"),
        ("```\n<not>\n*bold*\n```", "<not>\n*bold*"),
        ("&lt;!channel&gt; is no ping", "<!channel> is no ping"),
        ("<javascript:alert(1)|click>", "<javascript:alert(1)|click>"),
        ("| a | b |\n|---|---|", "| a | b |\n|---|---|"),
    ],
)
async def test_mrkdwn_is_seen_as_slack_draws_it(slack: SlackWorkspace, mrkdwn: str, screen: str) -> None:
    message = await posted(slack, text=mrkdwn)
    assert message.screen == screen
    assert message.pings == frozenset()


@pytest.mark.parametrize(
    ("markdown", "screen"),
    [
        ("# Leave\n\n**26** weeks, *paid*, ~~unpaid~~", "Leave\n26 weeks, paid, unpaid"),
        ("- a\n- b\n  1. c\n  2. d", "• a\n• b\n  1. c\n  2. d"),
        ("| Kind | Days |\n|---|---|\n| | 5 |\n| sick `a|b` | 3 |", "Kind │ Days\n │ 5\nsick `a │ b`"),
        ("```python\nx = '<b>'\n```", "x = '<b>'"),
        ("[[1]](https://example.com/a_(b).pdf)", "[1]"),
        ("a &lt; b &amp; c", "a < b & c"),
        ("<b>no html</b>", "<b>no html</b>"),
        (r"\<!channel\> \[1\]", "<!channel> [1]"),
        ("> quoted\n\n---\n\nafter", "quoted\n───\nafter"),
        ("値は３．１４です。", "値は３．１４です。"),
    ],
)
async def test_markdown_blocks_are_real_markdown(slack: SlackWorkspace, markdown: str, screen: str) -> None:
    message = await posted(slack, markdown_text=markdown)
    assert message.screen == screen
    assert message.pings == frozenset()


@pytest.mark.parametrize("field", ["text", "markdown_text"])
@pytest.mark.parametrize(
    ("written", "pings"),
    [
        ("<!channel> hello", {"channel"}),
        ("<!here|here> and <!everyone>", {"here", "everyone"}),
        ("ask <@U0123|ada>", {"U0123"}),
        ("ask <!subteam^S0123|@hr>", {"S0123"}),
        ("@channel @here in plain", set()),
    ],
)
async def test_pings_are_found_in_both_languages(
    slack: SlackWorkspace, field: str, written: str, pings: set[str]
) -> None:
    assert (await posted(slack, **{field: written})).pings == pings


async def test_plain_at_channel_pings_when_names_are_linked(slack: SlackWorkspace) -> None:
    assert (await posted(slack, text="@channel hello", parse="full")).pings == {"channel"}
    assert (await posted(slack, text="@here hello", link_names=True)).pings == {"here"}


async def test_a_ping_in_the_fallback_or_in_any_block_counts(slack: SlackWorkspace) -> None:
    blocks = [
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": "fine"},
            "fields": [{"type": "mrkdwn", "text": "<@U1>"}],
        },
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "<!here>"}]},
        {"type": "header", "text": {"type": "plain_text", "text": "<!everyone>"}},
    ]
    message = await posted(slack, text="<!channel>", blocks=blocks)
    assert message.pings == {"channel", "here", "U1"}
    assert message.screen == "fine\n@U1\n@here\n<!everyone>"


async def test_mentions_are_shown_by_name(slack: SlackWorkspace) -> None:
    ada = slack.user("Ada")
    random = slack.channel("random", members=[ada])
    message = await posted(slack, text=f"<@{ada.id}> in <#{random.id}> and <#C999|gone>")
    assert message.screen == "@Ada in #random and #gone"


async def test_links_are_what_can_be_clicked(slack: SlackWorkspace) -> None:
    message = await posted(slack, text="<https://a.example/x?y&amp;z|A> https://b.example/c. <mailto:a@b.example|mail>")
    assert message.links == (
        Link(label="A", url="https://a.example/x?y&z"),
        Link(label="https://b.example/c", url="https://b.example/c"),
        Link(label="mail", url="mailto:a@b.example"),
    )
    message = await posted(slack, markdown_text="[A](https://a.example/(x)) <https://b.example> https://c.example/")
    assert [link.url for link in message.links] == [
        "https://a.example/(x)",
        "https://b.example",
        "https://c.example/",
    ]


async def test_previews_are_added_unless_both_kinds_are_declined(slack: SlackWorkspace) -> None:
    link = "<https://a.example/>"
    assert (await posted(slack, text=link)).unfurls
    assert (await posted(slack, text=link, unfurl_links=False)).unfurls
    assert not (await posted(slack, text=link, unfurl_links=False, unfurl_media=False)).unfurls
    assert not (await posted(slack, text="no link")).unfurls


async def test_blocks_are_read_from_top_to_bottom(slack: SlackWorkspace) -> None:
    plain = {"type": "plain_text", "text": "Why?"}
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Answer"}},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}, {"type": "raw_text", "text": "1"}]]},
        {"type": "divider"},
        {"type": "image", "image_url": "https://a.example/b.png", "alt_text": "a chart"},
        {"type": "actions", "elements": [{"type": "button", "text": plain, "url": "https://a.example/"}]},
    ]
    message = await posted(slack, text="fallback", blocks=blocks)
    assert message.screen == "Answer\na │ 1\n───\n[image: a chart]\n[Why?]"
    assert message.buttons == ("Why?",)
    assert message.links == (Link(label="Why?", url="https://a.example/"),)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("a<b & c>d", "a&lt;b &amp; c&gt;d"),
        ("&lt;!channel&gt;", "&amp;lt;!channel&amp;gt;"),
        ("see https://example.com/a?b=1&c=2.", "see <https://example.com/a?b=1&amp;c=2>."),
        ("@channel!", "<!channel>!"),
        ("mail@bot.example", "mail@bot.example"),
    ],
)
async def test_typed_text_arrives_as_slack_writes_it(slack: SlackWorkspace, typed: str, text: str) -> None:
    ada = slack.user("Ada")
    message = await ada.says(typed, in_=ada.dm)
    assert message.text == text
    assert message.screen == typed
