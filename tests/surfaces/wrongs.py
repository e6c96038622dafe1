"""What is wrong with a surface for whoever cannot see it, or reads a notification alone."""

import re
from collections import Counter
from collections.abc import Iterator

from tests.slack_workspace.block_ids import elements
from tests.slack_workspace.blocks import check_message, check_view
from tests.slack_workspace.calls import Refusal
from tests.slack_workspace.world import Json
from tests.surfaces.gallery import Kind, Surface

LONGEST_ALOUD = 75
LONGEST_TEXT = 4_000
CLEAR = 3
"""Words of a label that say what happens without what stands around it."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_ENDS = re.compile(r"[.!?…。！？][”’»)\]]?$")
_MARKUP = re.compile(r"\*\w[^*]*\*|(?<!\w)_\w[^_]*_(?!\w)|`|~\w[^~]*~|\]\(")
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]|:[a-z_]+:")
_ALONE = re.compile(r"<?(https?://\S+)>?")


def wrongs(surface: Surface) -> list[str]:
    """Each with the name of the surface; none where all is well."""
    found = [*_unread(surface), *_unlabelled(list(surface.blocks)), *_too_long(surface), *_emoji(surface)]
    return [f"{surface.name}: {one}" for one in found]


def _unread(surface: Surface) -> Iterator[str]:
    """The fallback of a message is a sentence. What is being streamed has none of its own."""
    if surface.kind is not Kind.MESSAGE or surface.streaming:
        return
    text = surface.text.strip()
    if len(_WORD.findall(text)) < (1 if text.endswith(".") else 2) or _ALONE.fullmatch(text):  # “Stopped.” is one
        yield f"the notification is no sentence: {text!r}"
    if surface.blocks and not _ENDS.search(text):
        yield f"the notification does not end: {text[-60:]!r}"
    if surface.blocks and _MARKUP.search(text):
        yield f"the notification has markup in it: {text!r}"


def _unlabelled(blocks: list[Json]) -> Iterator[str]:
    yield from (f"an image without words: {image}" for image in _images(blocks) if not _WORD.search(image))
    buttons = [button for _, element in elements(blocks) for button in _buttons(element)]
    often = Counter(button["text"]["text"] for button in buttons)
    for button in buttons:
        label, aloud = button["text"]["text"], button.get("accessibility_label", "")
        if not _WORD.search(label):
            yield f"a button without words: {label!r}"
        if not aloud and (often[label] > 1 or len(label.split()) < CLEAR):
            yield f"a button whose label alone does not tell what it does: {label!r}"
        if aloud and label.casefold() not in aloud.casefold():
            yield f"a button that is called otherwise aloud: {label!r}, {aloud!r}"
        if len(aloud) > LONGEST_ALOUD:
            yield f"a button with too much to say: {aloud!r}"
    yield from (f"an input without a label: {one['block_id']}" for one in blocks if _is_nameless(one))


def _buttons(element: Json) -> list[Json]:
    if element["type"] == "feedback_buttons":
        return [element["positive_button"], element["negative_button"]]
    return [element] if element["type"] in {"button", "icon_button"} else []


def _images(node: object) -> Iterator[str]:
    """What is said of each image, however deep it lies."""
    if isinstance(node, list | tuple):
        for one in node:
            yield from _images(one)
    elif isinstance(node, dict):
        if node.get("type") == "image":
            yield str(node.get("alt_text") or "")
        yield from _images(list(node.values()))


def _is_nameless(block: Json) -> bool:
    return block["type"] == "input" and not _WORD.search(block["label"]["text"])


def _too_long(surface: Surface) -> Iterator[str]:
    try:
        if surface.kind is Kind.MESSAGE:
            check_message(list(surface.blocks))
        elif surface.view:
            check_view(surface.view)
    except Refusal as refusal:
        yield f"Slack refuses it: {refusal} {refusal.messages}"
    if len(surface.text) > LONGEST_TEXT:
        yield f"the notification has {len(surface.text)} characters"


def _emoji(surface: Surface) -> Iterator[str]:
    """Nothing is told by a picture alone, nor by a colour: a line has words, or no emoji."""
    for line in (*surface.lines, surface.text):
        if _EMOJI.search(line) and not _WORD.search(_EMOJI.sub("", line)):
            yield f"an emoji alone tells something: {line!r}"
