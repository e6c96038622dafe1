"""The modal that adds a message, its thread or its file to the library: what it shows is what is stored; pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.slack import words
from bot.slack.text.mrkdwn import clean
from bot.slack.views.blocks import Block, plain_text, shorten
from crag_graph.phrases import Phrase

KEEP = "add_to_library"
"""The callback id of the shortcut and of its modal."""
WHAT = "add_to_library_what"
LONGEST_TITLE = 150
PIECE = 2_900
"""Characters of one block; Slack takes 3,000."""
MOST_CHARACTERS = 60_000
"""Of a text that is stored by this modal: it has to be seen in it, and Slack takes 100 blocks."""
MOST_FILES = 8

MESSAGE, THREAD = "message", "thread"
TITLE = Phrase("Add to library")
TOO_LONG = Phrase(
    "The thread is too long: it has {number} characters, and {most} are possible. "
    "Add single messages of it, or share it as a file."
)
EMPTY = Phrase("There is no text in it that could be stored.")
SUBMIT = Phrase("Add")
WHOLE_MESSAGE = Phrase("This message")
WHOLE_THREAD = Phrase("The whole thread")
ONE_FILE = Phrase("The file {name}")
WHAT_TO_ADD = Phrase("What to add")
TITLE_LABEL = Phrase("Title")
WHO_CAN_ASK = Phrase("Who can ask about it")
THOSE_HERE = Phrase("Those who are here")
STORED = Phrase("What is stored")
HERE, EVERYBODY = "here", "everybody"
STORED_FILE = Phrase("The file “{name}” is fetched and read when you press Add.")
CHANGED = Phrase("The preview does not show this yet. Wait a moment, then press Add again.")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What is to be stored, so far. `what` is `message`, `thread` or the id of a file."""

    channel: str
    ts: str
    thread: str = ""
    """The ts of the thread's root; empty: the message is in no thread."""
    author: str = ""
    files: tuple[tuple[str, str], ...] = ()
    """Id and name."""
    what: str = MESSAGE
    response_url: str = ""
    version: int = 0
    """Of the view: Slack keeps what was entered in a block of the same name."""

    @property
    def file(self) -> str:
        return next((name for file, name in self.files if file == self.what), "")


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A submitted draft, with its title, its text as it was shown, and for whom it is."""

    draft: Draft
    chosen: str
    """What was chosen last, which the preview may not show yet."""
    title: str
    text: str
    for_everybody: bool


def keep_view(draft: Draft, text: str, *, where: str, may_give: bool, notice: str = "") -> dict[str, Any]:
    """`where`: who will be able to ask about it; `may_give`: the person may give it to everybody instead."""
    blocks = [*_notice(notice), *_choice(draft), _title(draft, text), *space_choice(where, may_give=may_give)]
    return {
        "type": "modal",
        "callback_id": KEEP,
        "private_metadata": json.dumps(asdict(draft)),
        "title": plain_text(TITLE()),
        "submit": plain_text(SUBMIT()),
        "close": plain_text(words.CANCEL()),
        "blocks": [*blocks, *_preview(draft, text)],
    }


def notice_view(title: str, said: str) -> dict[str, Any]:
    """In place of a modal that has nothing to offer; `said` is ours, in Slack's markup."""
    section = {"type": "section", "text": {"type": "mrkdwn", "text": said}}
    return {"type": "modal", "title": plain_text(title), "close": plain_text(words.CLOSE()), "blocks": [section]}


def draft_of(view: Mapping[str, Any]) -> Draft:
    told = json.loads(view["private_metadata"])
    return Draft(**{**told, "files": tuple((file, name) for file, name in told["files"])})


def redrafted(draft: Draft, what: str) -> Draft:
    return replace(draft, what=what, version=draft.version + 1)


def kept_of(view: Mapping[str, Any]) -> Kept:
    """A submitted modal."""
    draft = draft_of(view)
    entered = {name.partition("-")[0]: next(iter(fields.values())) for name, fields in view["state"]["values"].items()}
    title = clean(entered.get("title", {}).get("value") or "").strip()
    return Kept(
        draft=draft,
        chosen=_option(entered.get("what")) or draft.what,
        title=shorten(title, LONGEST_TITLE),
        text=shown_text(view),
        for_everybody=for_everybody(view["state"]["values"]),
    )


def title_block(draft: Draft) -> str:
    return f"title-{draft.version}"


def shown_text(view: Mapping[str, Any]) -> str:
    """The text that the preview shows, whole."""
    return "".join(block["text"]["text"] for block in view["blocks"] if block["block_id"].startswith("text-"))


def text_blocks(text: str) -> Iterator[Block]:
    """All of a text, shown as it is: plain text has no markup and no pings."""
    for number, start in enumerate(range(0, len(text), PIECE)):
        piece = {"type": "plain_text", "text": text[start : start + PIECE], "emoji": False}
        yield {"type": "section", "block_id": f"text-{number}", "text": piece}


def _notice(notice: str) -> Iterator[Block]:
    if notice:
        yield {"type": "section", "text": plain_text(notice)}


def _choice(draft: Draft) -> Iterator[Block]:
    options = [(MESSAGE, WHOLE_MESSAGE()), *([(THREAD, WHOLE_THREAD())] if draft.thread else [])]
    options += [(file, shorten(ONE_FILE(name=name), 75)) for file, name in draft.files[:MOST_FILES]]
    offered = [{"text": plain_text(label), "value": value} for value, label in options]
    if len(offered) > 1:
        yield {
            "type": "input",
            "block_id": f"what-{draft.version}",
            "dispatch_action": True,
            "label": plain_text(WHAT_TO_ADD()),
            "element": {
                "type": "radio_buttons",
                "action_id": WHAT,
                "options": offered,
                "initial_option": next(option for option in offered if option["value"] == draft.what),
            },
        }


def _title(draft: Draft, text: str) -> Block:
    title = shorten(draft.file or text, LONGEST_TITLE if draft.file else 80)
    return {
        "type": "input",
        "block_id": title_block(draft),
        "label": plain_text(TITLE_LABEL()),
        "element": {
            "type": "plain_text_input",
            "action_id": "title",
            "max_length": LONGEST_TITLE,
            **({"initial_value": title} if title else {}),
        },
    }


def for_everybody(values: Mapping[str, Any]) -> bool:
    """Who was chosen in the block of `space_choice`."""
    return _option(values.get("space", {}).get("space")) == EVERYBODY


def space_choice(where: str, *, may_give: bool) -> Iterator[Block]:
    """Who will be able to ask about it: said, or chosen by who may."""
    if not may_give:
        yield {"type": "section", "text": plain_text(where)}
        return
    offered = [
        {"text": plain_text(THOSE_HERE()), "description": plain_text(shorten(where, 75)), "value": HERE},
        {"text": plain_text(words.EVERYBODY()), "value": EVERYBODY},
    ]
    yield {
        "type": "input",
        "block_id": "space",
        "label": plain_text(WHO_CAN_ASK()),
        "element": {
            "type": "radio_buttons",
            "action_id": "space",
            "options": offered,
            "initial_option": offered[0],
        },
    }


def _preview(draft: Draft, text: str) -> Iterator[Block]:
    yield {"type": "header", "text": plain_text(STORED())}
    if draft.file:
        yield {"type": "section", "text": plain_text(STORED_FILE(name=shorten(draft.file)))}
    else:
        yield from text_blocks(text)


def _option(field: Mapping[str, Any] | None) -> str:
    return str(((field or {}).get("selected_option") or {}).get("value") or "")
