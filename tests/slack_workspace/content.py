"""What a message may consist of: text, blocks or markdown_text, and the refusals when it may not."""

from typing import Any

from tests.slack_workspace.block_ids import named
from tests.slack_workspace.blocks import check_message
from tests.slack_workspace.calls import Refusal
from tests.slack_workspace.world import Json, Post

LONGEST_MARKDOWN = 12_000
LARGEST_METADATA = 8_000
MOST_ATTACHMENTS = 100


def content(args: Json, *, before: Post | None = None) -> dict[str, Any]:
    """The `text`, `blocks` and `attachments` that a call gives a message."""
    markdown = args.get("markdown_text")
    blocks: list[Json] = args.get("blocks") or []
    attachments: list[Json] = args.get("attachments") or []
    text = args.get("text")
    if markdown is not None:
        return markdown_content(markdown, conflict=bool(text or blocks))
    if not isinstance(text or "", str):
        raise Refusal("invalid_arguments", "[ERROR] text must be a string")
    if not (text or "").strip() and not blocks and not attachments:
        raise Refusal("no_text")
    if len(attachments) > MOST_ATTACHMENTS:
        raise Refusal("too_many_attachments")
    check_message(blocks)
    kept = before.blocks if before and "blocks" not in args and text is None else named(blocks)
    if before and "attachments" not in args:
        attachments = before.attachments
    return {"text": text or "", "blocks": kept, "attachments": attachments}


def markdown_content(markdown: str, *, conflict: bool = False) -> dict[str, Any]:
    if conflict:
        raise Refusal("markdown_text_conflict")
    if not markdown.strip():
        raise Refusal("no_text")
    if len(markdown) > LONGEST_MARKDOWN:
        raise Refusal("msg_too_long")
    return {"text": markdown, "blocks": named([{"type": "markdown", "text": markdown}]), "attachments": []}


def check_metadata(metadata: Any) -> Json | None:
    if not metadata:
        return None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str):
        raise Refusal("invalid_metadata_format")
    if not isinstance(metadata.get("event_payload"), dict):
        raise Refusal("invalid_metadata_schema")
    if len(str(metadata)) > LARGEST_METADATA:
        raise Refusal("metadata_too_large")
    return metadata
