"""Reads a call's arguments as Slack does, and refuses the ones it does not know or misses."""

import json
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from aiohttp import web

from tests.slack_workspace.calls import Refusal
from tests.slack_workspace.world import Json

SCHEMA = Path(__file__).parent / "schema"
_STRUCTURED = frozenset({"blocks", "attachments", "metadata", "view", "chunks", "files", "prompts", "loading_messages"})
_ALWAYS = frozenset({"token", "team_id"})


class Facts(TypedDict):
    """What Slack's reference says of a method."""

    required: list[str]
    optional: list[str]
    scopes: list[str]
    errors: list[str]
    tier: int | None


@cache
def reference() -> dict[str, Facts]:
    facts: dict[str, Facts] = json.loads((SCHEMA / "methods.json").read_text(encoding="utf-8"))
    return facts


async def read(request: web.Request) -> Json:
    """Arguments from the query, a form or a JSON body; structured ones are decoded."""
    args: Json = dict(request.query)
    if request.content_type == "application/json" and request.can_read_body:
        args |= _json(await request.text())
    elif request.can_read_body:
        args |= {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    return {name: _decode(name, value) for name, value in args.items()}


def check(method: str, args: Json) -> None:
    """Refuse missing and unknown arguments: a name that Slack does not know is a mistake of the app."""
    facts = reference()[method]
    missing = [name for name in facts["required"] if args.get(name) in (None, "") and name != "status"]
    if missing:
        raise Refusal("invalid_arguments", *(f"[ERROR] missing required field: {name}" for name in missing))
    known = _ALWAYS.union(facts["required"], facts["optional"])
    unknown = sorted(args.keys() - known)
    if unknown:
        raise Refusal("invalid_arguments", *(f"[ERROR] unknown argument: {name}" for name in unknown))


def _json(text: str) -> Json:
    try:
        body = json.loads(text)
    except ValueError:
        raise Refusal("invalid_json") from None
    if not isinstance(body, dict):
        raise Refusal("json_not_object")
    return body


def _decode(name: str, value: Any) -> Any:
    if name not in _STRUCTURED or not isinstance(value, str) or not value:
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise Refusal(f"invalid_{name}_format" if name in {"blocks", "metadata"} else "invalid_arguments") from None
