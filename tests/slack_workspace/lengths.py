"""The lengths and counts of Block Kit, which its schema does not tell."""

from collections.abc import Iterator
from typing import Any

from tests.slack_workspace.world import Json

TEXTS: dict[str, dict[str, int]] = {
    "section": {"text": 3000},
    "header": {"text": 150},
    "markdown": {"text": 12_000},
    "button": {"text": 75, "value": 2000, "url": 3000, "accessibility_label": 75},
    "image": {"alt_text": 2000, "image_url": 3000, "title": 2000},
    "input": {"label": 2000, "hint": 2000},
    "plain_text_input": {"placeholder": 150, "initial_value": 3000},
    "modal": {"title": 24, "submit": 24, "close": 24, "private_metadata": 3000, "callback_id": 255, "external_id": 255},
    "home": {"private_metadata": 3000, "callback_id": 255, "external_id": 255},
    "plan": {"title": 150},
    "task_card": {"title": 150},
}
COUNTS: dict[str, dict[str, tuple[int, int]]] = {
    "section": {"fields": (1, 10)},
    "context": {"elements": (1, 10)},
    "actions": {"elements": (1, 25)},
    "context_actions": {"elements": (1, 5)},
    "static_select": {"options": (1, 100)},
    "multi_static_select": {"options": (1, 100)},
    "overflow": {"options": (1, 5)},
    "radio_buttons": {"options": (1, 10)},
    "checkboxes": {"options": (1, 10)},
    "table": {"rows": (1, 100), "column_settings": (0, 20)},
}
EVERYWHERE = {"block_id": 255, "action_id": 255}
SELECTS = ("static_select", "multi_static_select", "overflow", "radio_buttons", "checkboxes")
PARTS: dict[str, dict[str, dict[str, int]]] = {
    "section": {"fields": {"text": 2000}},
    "context": {"elements": {"text": 2000}},
    **{select: {"options": {"text": 75, "value": 150, "description": 75}} for select in SELECTS},
}
"""Limits that an item has because of where it stands."""
CONFIRM = {"title": 100, "text": 300, "confirm": 30, "deny": 30}


def overlong(node: Any, at: str) -> list[str]:
    """Everything that is longer, emptier or more than Slack takes, with a pointer to it."""
    return list(_look(node, at))


def _look(node: Any, at: str) -> Iterator[str]:
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _look(item, f"{at}/{index}")
    if not isinstance(node, dict):
        return
    kind = str(node.get("type", ""))
    for name, most in (TEXTS.get(kind, {}) | EVERYWHERE).items():
        yield from _text(node, name, most, at)
    for name, (least, most) in COUNTS.get(kind, {}).items():
        yield from _count(node, name, least, most, at)
    yield from _special(kind, node, at)
    for name, value in node.items():
        if name != "blocks":  # a view's blocks are looked at one by one
            yield from _look(value, f"{at}/{name}")


def _special(kind: str, node: Json, at: str) -> Iterator[str]:
    if kind == "section" and not node.get("text") and not node.get("fields"):
        yield _error("missing required field: text or fields", at)
    for part, most in PARTS.get(kind, {}).items():
        for index, item in enumerate(node.get(part) or []):
            for name, longest in most.items():
                yield from _text(item, name, longest, f"{at}/{part}/{index}")
    if isinstance(node.get("confirm"), dict):
        for name, longest in CONFIRM.items():
            yield from _text(node["confirm"], name, longest, f"{at}/confirm")


def _text(node: Json, name: str, most: int, at: str) -> Iterator[str]:
    value = node.get(name)
    text = value.get("text") if isinstance(value, dict) else value
    if not isinstance(text, str):
        return
    if len(text) > most:
        yield _error(f"must be less than {most + 1} characters", f"{at}/{name}")
    if not text and name in {"text", "title", "label", "alt_text"}:
        yield _error("must be more than 0 characters", f"{at}/{name}")


def _count(node: Json, name: str, least: int, most: int, at: str) -> Iterator[str]:
    value = node.get(name)
    if isinstance(value, list) and not least <= len(value) <= most:
        wrong = f"no more than {most}" if len(value) > most else f"no fewer than {least}"
        yield _error(f"{wrong} items allowed", f"{at}/{name}")


def _error(message: str, at: str) -> str:
    return f"[ERROR] {message} [json-pointer:{at}]"
