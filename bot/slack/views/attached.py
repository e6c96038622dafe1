"""What is said of files that came with a question, and the modal that keeps them in the library; pure."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.slack import words
from bot.slack.views.blocks import Reply, notice_reply, plain_text, shorten
from bot.slack.views.keeping import for_everybody, space_choice
from bot.slack.views.offers import KEEP_LABEL, keep_button
from crag_graph.knowledge.documents import StoredDocument
from crag_graph.phrases import Phrase

NAMED = Phrase("“{name}”")
BETWEEN = Phrase(", ")
CUT = Phrase("Of “{name}” I have read the first {read} passages of {all}: what comes after them I do not know.")
UNREAD = Phrase("I could not read “{name}”. {reason}")
BEGINNING = Phrase(
    "This is from the beginning. Ask about something particular, and I look through all that I have read."
)
READ_ONE = Phrase(
    "I have read “{name}”. What do you want to know? Ask me here in the thread; “Summarise it” shows how it begins."
)
READ_SEVERAL = Phrase(
    "I have read these files: {names}. What do you want to know? Ask me here in the thread; "
    "“Summarise them” shows how they begin."
)
NOT_ANSWERED = Phrase(
    "So I have not looked for an answer. Ask again with a file that I can read, or without files, and I look in the library."
)

KEEP_FILES = "keep_attached_files"
"""The callback id of the modal."""
FILES_BLOCK = "files"
SUBMIT = Phrase("Keep")
WHICH = Phrase("Files to keep")
MOST_KEPT = 10
"""Checkboxes of one group at Slack."""
LONGEST_LABEL = 75
KEPT = Phrase("In the library now: {names}. {where}")
READ_WHOLE = Phrase(
    "I had read only the beginning of these files: {names}. I am reading all of them, and say in the thread when they can be asked about."
)
NOTHING_LEFT = Phrase(
    "There is nothing left to keep: the files are in the library already, or went with their conversation."
)


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A file that could not be read, and why."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What became of the files of a question."""

    read: tuple[StoredDocument, ...] = ()
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True, kw_only=True)
class KeptFiles:
    """What was chosen in the modal: files of a conversation, by their source there."""

    conversation: str
    thread: str
    response_url: str
    sources: tuple[str, ...]
    for_everybody: bool


def remarks(reading: Reading) -> Iterator[str]:
    """What must be known of the files beside the answer."""
    for one in reading.read:
        if one.left_out:
            yield CUT(name=one.title, read=one.passages, all=one.passages + one.left_out)
    for unread in reading.unread:
        yield UNREAD(name=shorten(unread.name), reason=unread.reason)


def read_reply(reading: Reading, conversation: str) -> Reply:
    """In place of an answer: nothing was asked, or no file could be read."""
    names = [one.title for one in reading.read]
    said = READ_ONE(name=names[0]) if len(names) == 1 else READ_SEVERAL(names=listed(names))
    lines = [said, *remarks(reading)] if names else [*remarks(reading), NOT_ANSWERED()]
    text = "\n\n".join(lines)
    closing = ({"type": "actions", "elements": [keep_button(conversation)]},) if names else ()
    return replace(notice_reply(text), closing=closing)


def listed(names: Iterable[str]) -> str:
    return BETWEEN().join(NAMED(name=name) for name in names)


def files_view(
    documents: Sequence[StoredDocument],
    conversation: str,
    *,
    thread: str,
    response_url: str,
    where: str,
    may_give: bool,
) -> dict[str, Any]:
    """`where`: who will be able to ask about them; `may_give`: the person may give them to everybody instead."""
    offered = [{"text": plain_text(shorten(one.title, LONGEST_LABEL)), "value": one.source} for one in documents]
    offered = offered[:MOST_KEPT]
    return {
        "type": "modal",
        "callback_id": KEEP_FILES,
        "private_metadata": json.dumps({"conversation": conversation, "thread": thread, "response_url": response_url}),
        "title": plain_text(KEEP_LABEL()),
        "submit": plain_text(SUBMIT()),
        "close": plain_text(words.CANCEL()),
        "blocks": [
            {
                "type": "input",
                "block_id": FILES_BLOCK,
                "label": plain_text(WHICH()),
                "element": {
                    "type": "checkboxes",
                    "action_id": "files",
                    "options": offered,
                    "initial_options": offered,
                },
            },
            *space_choice(where, may_give=may_give),
        ],
    }


def chosen_files(view: Mapping[str, Any]) -> KeptFiles:
    """A submitted modal."""
    told, values = json.loads(view["private_metadata"]), view["state"]["values"]
    chosen = values[FILES_BLOCK]["files"].get("selected_options") or ()
    return KeptFiles(
        conversation=told["conversation"],
        thread=told["thread"],
        response_url=told["response_url"],
        sources=tuple(option["value"] for option in chosen),
        for_everybody=for_everybody(values),
    )
