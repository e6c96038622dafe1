"""Block Kit as Slack checks it: the structure by its schema, then lengths and counts."""

import json
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from jsonschema import Draft7Validator, ValidationError, validators
from jsonschema.exceptions import best_match

from tests.slack_workspace.arguments import SCHEMA
from tests.slack_workspace.calls import Refusal
from tests.slack_workspace.lengths import overlong
from tests.slack_workspace.world import Json

MOST_BLOCKS = 50
MOST_VIEW_BLOCKS = 100
LONGEST_MARKDOWN = 12_000
LONGEST_BLOCKS = 13_200
"""Characters over all blocks of one message; Slack does not document it."""
LARGEST_VIEW = 250_000


def check_message(blocks: Any) -> None:
    """Refuse the blocks of a message as Slack would, with its reasons."""
    if not isinstance(blocks, list):
        raise Refusal("invalid_blocks_format")
    if len(blocks) > MOST_BLOCKS:
        raise Refusal("invalid_blocks", f"[ERROR] no more than {MOST_BLOCKS} items allowed [json-pointer:/blocks]")
    refuse_if(problems(blocks, at="/blocks"), "invalid_blocks")
    if sum(len(block["text"]) for block in blocks if block["type"] == "markdown") > LONGEST_MARKDOWN:
        raise Refusal(
            "invalid_blocks", "[ERROR] markdown blocks hold more than 12000 characters [json-pointer:/blocks]"
        )
    if characters(blocks) > LONGEST_BLOCKS:
        raise Refusal("msg_blocks_too_long")


def check_view(view: Any) -> None:
    if not isinstance(view, dict):
        raise Refusal("invalid_arguments", "[ERROR] view must be an object [json-pointer:/view]")
    if len(json.dumps(view)) > LARGEST_VIEW:
        raise Refusal("view_too_large")
    blocks = view.get("blocks", [])
    if isinstance(blocks, list) and len(blocks) > MOST_VIEW_BLOCKS:
        raise Refusal(
            "invalid_arguments", f"[ERROR] no more than {MOST_VIEW_BLOCKS} items allowed [json-pointer:/view/blocks]"
        )
    found = [
        *_structure(view | {"blocks": []}, _validator("View"), "/view"),
        *problems(blocks, at="/view/blocks"),
        *overlong(view, "/view"),
    ]
    if view.get("type") == "modal" and not view.get("submit") and any(b.get("type") == "input" for b in blocks):
        found.append("[ERROR] a modal with input blocks needs `submit` [json-pointer:/view/submit]")
    refuse_if(found, "invalid_arguments")


def refuse_if(found: list[str], error: str) -> None:
    if found:
        raise Refusal(error, *found)


def problems(blocks: list[Json], *, at: str) -> list[str]:
    """What is wrong with each block, in Slack's manner of speaking."""
    found: list[str] = []
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        where = f"{at}/{index}"
        found += _structure(block, _validator("KnownBlock"), where) or overlong(block, where)
        name = block.get("block_id") if isinstance(block, dict) else None
        if name and name in seen:
            found.append(f"[ERROR] duplicate block_id [json-pointer:{where}/block_id]")
        seen.add(name or "")
    return found


def characters(node: Any) -> int:
    """All the text that the blocks show."""
    if isinstance(node, list):
        return sum(characters(item) for item in node)
    if not isinstance(node, dict):
        return 0
    own = len(node["text"]) if isinstance(node.get("text"), str) else 0
    return own + sum(characters(value) for value in node.values())


def _structure(node: Any, validator: Draft7Validator, at: str) -> list[str]:
    error = best_match(validator.iter_errors(node))
    if error is None:
        return []
    path = "".join(f"/{step}" for step in error.absolute_path)
    return [f"[ERROR] {error.message[:300]} [json-pointer:{at}{path}]"]


@cache
def _validator(name: str) -> Draft7Validator:
    schema: Json = json.loads((SCHEMA / "block_kit.schema.json").read_text(encoding="utf-8"))
    made = validators.extend(  # type: ignore[no-untyped-call] # the stubs leave it so
        Draft7Validator, {"anyOf": partial(_any_of, Choices(schema["definitions"]))}
    )
    validator: Draft7Validator = made(schema | {"$ref": f"#/definitions/{name}"})
    return validator


class Choices:
    """Which `type` constants a part of the schema allows."""

    def __init__(self, definitions: Json) -> None:
        self._definitions = definitions
        self._known: dict[str, frozenset[str]] = {}

    def kinds(self, choice: Json) -> frozenset[str]:
        """Empty where the choice does not say its type."""
        if "$ref" in choice:
            name = choice["$ref"].rpartition("/")[2]
            if name not in self._known:
                self._known[name] = self.kinds(self._definitions[name])
            return self._known[name]
        if "anyOf" in choice:
            return frozenset().union(*(self.kinds(inner) for inner in choice["anyOf"]))
        kind = choice.get("properties", {}).get("type", {})
        return frozenset([kind["const"]] if "const" in kind else kind.get("enum", []))


def _any_of(
    known: Choices, validator: Any, choices: list[Json], instance: Any, schema: Json
) -> Iterator[ValidationError]:
    """Only the choices of the instance's own type are tried: quick, and the error speaks of what was meant."""
    kind = instance.get("type") if isinstance(instance, dict) else None
    kinds = [known.kinds(choice) for choice in choices]
    fitting = [choice for choice, allowed in zip(choices, kinds, strict=True) if not allowed or kind in allowed]
    if not fitting:
        yield ValidationError(f"unsupported type: {kind}")
        return
    tries = [list(validator.descend(instance, choice)) for choice in fitting]
    if all(tries):
        yield from min(tries, key=len)
