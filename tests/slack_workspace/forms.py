"""Fills in a modal as a person does at the screen, and refuses what Slack's client would not send."""

from collections.abc import Mapping
from typing import Any

from tests.slack_workspace.block_ids import elements
from tests.slack_workspace.world import Json

TEXT = ("value", "initial_value")
OPTION = ("selected_option", "initial_option")
OPTIONS = ("selected_options", "initial_options")
FIELDS: dict[str, tuple[str, str]] = {
    "plain_text_input": TEXT,
    "number_input": TEXT,
    "email_text_input": TEXT,
    "url_text_input": TEXT,
    "static_select": OPTION,
    "radio_buttons": OPTION,
    "multi_static_select": OPTIONS,
    "checkboxes": OPTIONS,
    "users_select": ("selected_user", "initial_user"),
    "multi_users_select": ("selected_users", "initial_users"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "multi_conversations_select": ("selected_conversations", "initial_conversations"),
    "channels_select": ("selected_channel", "initial_channel"),
    "multi_channels_select": ("selected_channels", "initial_channels"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
}


def fill(view: Json, values: Mapping[str, Any]) -> Json:
    """The state of the view's inputs: what was there at first, and what the person entered, by label."""
    left = dict(values)
    state: Json = {}
    for block_id, element in elements(view["blocks"]):
        if element["type"] not in FIELDS:
            continue
        block = next(b for b in view["blocks"] if b["block_id"] == block_id)
        label = label_of(block, element)
        entered = _enter(element, left.pop(label)) if label in left else _initial(element)
        _accept(label, block, element, entered)
        key, _ = FIELDS[element["type"]]
        state.setdefault(block_id, {})[element["action_id"]] = {"type": element["type"], key: entered}
    if left:
        raise AssertionError(f"The modal asks for nothing called {sorted(left)}, but for {labels(view)}")
    return state


def labels(view: Json) -> list[str]:
    """What the view asks for, in order."""
    blocks = {block["block_id"]: block for block in view["blocks"]}
    return [label_of(blocks[b], element) for b, element in elements(view["blocks"]) if element["type"] in FIELDS]


def label_of(block: Json, element: Json) -> str:
    """An input's label; elsewhere the text beside the element, or its action_id."""
    label = block.get("label") or (block.get("text") if block["type"] == "section" else None)
    return str(label["text"] if label else element["action_id"])


def _initial(element: Json) -> Any:
    _, initial = FIELDS[element["type"]]
    return element.get(initial, [] if initial.endswith("s") else None)


def _enter(element: Json, value: Any) -> Any:
    key, _ = FIELDS[element["type"]]
    if key == "selected_option":
        return _option(element, value)
    if key == "selected_options":
        return [_option(element, item) for item in value]
    if key.endswith("s"):
        return [getattr(item, "id", item) for item in value]
    return getattr(value, "id", value)


def _option(element: Json, label: str) -> Json:
    options: list[Json] = element.get("options", [])
    grouped: list[Json] = [o for group in element.get("option_groups", []) for o in group["options"]]
    for option in options + grouped:
        if option["text"]["text"] == label:
            return option
    raise AssertionError(f"There is no option {label!r} among {[o['text']['text'] for o in options + grouped]}")


def _accept(label: str, block: Json, element: Json, entered: Any) -> None:
    """What Slack's client checks before it sends anything."""
    if block["type"] == "input" and not block.get("optional") and not entered:
        raise AssertionError(f"Slack does not submit without {label!r}")
    if isinstance(entered, str) and not element.get("min_length", 0) <= len(entered) <= element.get("max_length", 3000):
        raise AssertionError(f"Slack does not take {len(entered)} characters for {label!r}")
