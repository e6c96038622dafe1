"""Slack names what an app left unnamed: a block without `block_id`, an element without `action_id`."""

import secrets
from typing import Any

from tests.slack_workspace.world import Json

INTERACTIVE = frozenset(
    [
        "button",
        "feedback_buttons",
        "icon_button",
        "overflow",
        "datepicker",
        "timepicker",
        "datetimepicker",
        "radio_buttons",
        "checkboxes",
        "static_select",
        "users_select",
        "conversations_select",
        "channels_select",
        "external_select",
        "multi_static_select",
        "multi_users_select",
        "multi_conversations_select",
        "multi_channels_select",
        "multi_external_select",
        "plain_text_input",
        "number_input",
        "email_text_input",
        "url_text_input",
        "file_input",
        "rich_text_input",
    ]
)


def named(blocks: list[Json]) -> list[Json]:
    """Copies of the blocks with every name filled in; names that an app gave stay."""
    return [{"block_id": secrets.token_urlsafe(4), **_named(block)} for block in blocks]


def _named(node: Any) -> Any:
    if isinstance(node, list):
        return [_named(item) for item in node]
    if not isinstance(node, dict):
        return node
    shape = {name: _named(value) for name, value in node.items()}
    return {"action_id": secrets.token_urlsafe(4), **shape} if node.get("type") in INTERACTIVE else shape


def elements(blocks: list[Json]) -> list[tuple[str, Json]]:
    """The interactive elements of the blocks with the block_id of each, in order."""
    found: list[tuple[str, Json]] = []
    for block in blocks:
        inside = [block.get("accessory"), block.get("element"), *block.get("elements", [])]
        found += [(block["block_id"], e) for e in inside if isinstance(e, dict) and e.get("type") in INTERACTIVE]
    return found
