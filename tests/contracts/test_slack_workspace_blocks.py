"""Block Kit by its schema and by Slack's lengths: what is refused, and with which reason."""

from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from tests.slack_workspace import SlackWorkspace
from tests.slack_workspace.connect import client

Block = dict[str, Any]


def section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}


def button(**what: Any) -> Block:
    return {"type": "button", "text": plain("Press"), "action_id": "a", **what}


def actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def markdown(text: str) -> Block:
    return {"type": "markdown", "text": text}


FEEDBACK = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "feedback",
            "positive_button": {"text": plain("Helpful"), "value": "1", "accessibility_label": "Helpful"},
            "negative_button": {"text": plain("Not helpful"), "value": "0"},
        }
    ],
}
TABLE = {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}, {"type": "raw_text", "text": "b"}]]}
OPTION = {"text": plain("One"), "value": "1"}
SELECT = {"type": "static_select", "action_id": "s", "placeholder": plain("Choose"), "options": [OPTION]}


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace() as slack:
        yield slack


async def refusal(slack: SlackWorkspace, blocks: Any) -> tuple[str, str]:
    """Error and reason of a post with these blocks."""
    general = slack.channel("general", members=[slack.bot])
    return await refusal_of(client(slack).chat_postMessage(channel=general.id, text="a", blocks=blocks))


async def refusal_of(call: Awaitable[Any]) -> tuple[str, str]:
    try:
        await call
    except SlackApiError as error:
        messages = error.response.get("response_metadata", {}).get("messages", [""])
        return str(error.response["error"]), messages[0]
    return "", ""


@pytest.mark.parametrize(
    "blocks",
    [
        [section("a" * 3000)],
        [section("a")] * 50,
        [markdown("a" * 12_000)],
        [FEEDBACK, TABLE, {"type": "divider"}, {"type": "header", "text": plain("a" * 150)}],
        [actions(*[button(action_id=str(n), value="a" * 2000) for n in range(25)])],
        [actions(SELECT, button(url="https://example.com/" + "a" * 2900, style="primary"))],
        [{"type": "context", "elements": [{"type": "mrkdwn", "text": "a"}] * 10}],
        [section("a") | {"accessory": button(confirm={"title": plain("Sure?"), "text": plain("Really?")})}],
        [{"type": "image", "image_url": "https://example.com/a.png", "alt_text": "a"}],
    ],
    ids=["3000", "50", "markdown", "several", "25 buttons", "select", "context", "accessory", "image"],
)
async def test_what_slack_takes_is_taken(slack: SlackWorkspace, blocks: list[Block]) -> None:
    assert await refusal(slack, blocks) == ("", "")


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        ([section("a" * 3001)], "must be less than 3001 characters [json-pointer:/blocks/0/text]"),
        ([section("")], "must be more than 0 characters [json-pointer:/blocks/0/text]"),
        ([{"type": "section"}], "missing required field: text or fields"),
        ([section("a")] * 51, "no more than 50 items allowed"),
        ([section("a"), markdown("a" * 12_001)], "must be less than 12001 characters [json-pointer:/blocks/1/text]"),
        ([markdown("a" * 6_001)] * 2, "markdown blocks hold more than 12000 characters"),
        ([{"type": "header", "text": plain("a" * 151)}], "must be less than 151 characters"),
        ([{"type": "header", "text": {"type": "mrkdwn", "text": "a"}}], "/blocks/0/text"),
        ([{"type": "context", "elements": [{"type": "mrkdwn", "text": "a"}] * 11}], "no more than 10 items"),
        ([actions(*[button(action_id=str(n)) for n in range(26)])], "no more than 25 items"),
        ([actions()], "no fewer than 1 items"),
        ([actions(button(text=plain("a" * 76)))], "must be less than 76 characters"),
        ([actions(button(value="a" * 2001))], "must be less than 2001 characters"),
        ([actions(button(url="https://example.com/" + "a" * 3000))], "must be less than 3001 characters"),
        ([actions(button(colour="red"))], "'colour' was unexpected"),
        ([actions(button(action_id="a" * 256))], "must be less than 256 characters"),
        ([actions({"type": "button", "action_id": "a"})], "'text' is a required property"),
        ([actions(SELECT | {"options": [OPTION] * 101})], "no more than 100 items"),
        ([section("a") | {"block_id": "x"}] * 2, "duplicate block_id [json-pointer:/blocks/1/block_id]"),
        ([section("a") | {"fields": [plain("a")] * 11}], "no more than 10 items"),
        ([section("a") | {"fields": [plain("a" * 2001)]}], "must be less than 2001 characters"),
        ([{"type": "sektion"}], "unsupported type: sektion"),
        ([{"type": "context_actions", "elements": [button()]}], "unsupported type: button"),
        (["text"], "[json-pointer:/blocks/0]"),
    ],
)
async def test_what_slack_refuses_is_refused_with_its_place(
    slack: SlackWorkspace, blocks: list[Any], reason: str
) -> None:
    error, message = await refusal(slack, blocks)
    assert error == "invalid_blocks"
    assert reason in message


async def test_blocks_that_are_legal_one_by_one_may_be_too_long_together(slack: SlackWorkspace) -> None:
    assert await refusal(slack, [section("a" * 2640)] * 5) == ("", "")
    assert await refusal(slack, [section("a" * 2641)] * 5) == ("msg_blocks_too_long", "")


def modal(*blocks: Block, **what: Any) -> Block:
    return {"type": "modal", "title": plain("Title"), "blocks": list(blocks), **what}


NOTE = {
    "type": "input",
    "block_id": "note",
    "label": plain("Note"),
    "element": {"type": "plain_text_input", "action_id": "note"},
}


@pytest.mark.parametrize(
    ("view", "error", "reason"),
    [
        (modal(section("a"), private_metadata="a" * 3000), "", ""),
        (modal(*[section("a")] * 100), "", ""),
        (modal(NOTE, submit=plain("Send")), "", ""),
        (
            modal(section("a"), private_metadata="a" * 3001),
            "invalid_arguments",
            "[json-pointer:/view/private_metadata]",
        ),
        (modal(*[section("a")] * 101), "invalid_arguments", "no more than 100 items"),
        (modal(section("a"), title=plain("a" * 25)), "invalid_arguments", "[json-pointer:/view/title]"),
        (modal(section("a"), submit=plain("a" * 25)), "invalid_arguments", "[json-pointer:/view/submit]"),
        (modal(NOTE), "invalid_arguments", "needs `submit`"),
        (modal(section("a" * 3001)), "invalid_arguments", "[json-pointer:/view/blocks/0/text]"),
        ({"type": "modal", "blocks": []}, "invalid_arguments", "'title' is a required property"),
        (modal(*[section("a" * 3000)] * 84), "view_too_large", ""),
    ],
)
async def test_views_have_limits_of_their_own(slack: SlackWorkspace, view: Block, error: str, reason: str) -> None:
    trigger = slack.platform.triggers.give(slack.user("Ada").account, slack.installation)
    refused, why = await refusal_of(client(slack).views_open(trigger_id=trigger.id, view=view))
    assert refused == error
    assert reason in why
