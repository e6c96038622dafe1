"""The home tab: what the bot knows for one person, how to ask, and what was asked; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.slack.views.blocks import Block, link, plain_text, shorten, text
from crag_graph.phrases import Phrase

FORGET = "home_forget"
SETTINGS = "home_settings"
SETTINGS_LABEL = Phrase("Settings of a channel")
MOST_SPACES = 15
MOST_FAILURES = 5
MOST_CONVERSATIONS = 15
MOST_BLOCKS = 98
LONGEST_QUESTION = 150
LONGEST_PROBLEM = 300

ABOUT = Phrase(
    "*Ask me* in a channel by mentioning me, here in the Messages tab, or privately with `/crag-ask`. "
    "I answer from your documents, say when they are not enough, and then look on the web. "
    "Every answer names its sources, and *How I got here* under it shows how it came about.\n\n"
    "*Feed me* with `/crag-ingest` and an address or text, or share a file and mention me with the word `ingest`. "
    "What you add in a channel can be asked about in that channel alone. Share a file with a question, and I answer "
    "from it and keep it only if you say so.\n\n"
    "*Have me forget* a conversation with `/crag-forget`, or with the buttons below."
)
SETTLE = Phrase(
    "*Settle* for a channel when I answer there, from what, and for whom: with the button beside this, or with "
    "`/crag-settings` in the channel."
)
NOTHING_HERE = Phrase(
    "I know no documents in the places that you are in. Add the first one with /crag-ingest, "
    "or share a file with me and the word ingest."
)
NOTHING_ASKED = Phrase("You have asked me nothing yet, or it is forgotten.")
DIRECT = Phrase("Direct messages")
UNNAMED = Phrase("A conversation of yours")
NO_TEXT = Phrase("A question whose text is not kept")
MORE_SPACES = Phrase(
    "There are {number} more places with documents. In each of them, /crag-ingest list shows what is there."
)
HOLDS = Phrase("Documents: {documents}. The last one was added on {date}.")
HOLDS_NOTHING = Phrase("No document can be asked about yet.")
FAILED = Phrase("Failed: {failed}.")
KNOWN = Phrase("What I know")
NOT_ADDED = Phrase("What could not be added")
ASKED_LAST = Phrase("What you asked last")
UNTITLED = Phrase("Untitled")
FORGET_LABEL = Phrase("Forget")
FORGET_ALOUD = Phrase("Forget the conversation: {question}")
FORGET_TITLE = Phrase("Forget this conversation?")
KEEP = Phrase("Keep")
CONFIRM = Phrase(
    "I forget this conversation for everybody in its thread: what I remember of it, the files that came with it, "
    "and the texts of its questions and answers in my log. What is kept in the library stays, and so do the messages "
    "in Slack. This cannot be undone."
)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A space by what its place is called, and what it holds."""

    name: str
    documents: int
    failed: int
    added_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Failed:
    """A document that could not be added: where, what and why."""

    name: str
    title: str
    problem: str


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A conversation by its name, the place where it is, and its last question."""

    conversation: str
    name: str
    question: str
    address: str
    asked_at: datetime


def home_view(
    spaces: Sequence[Shown],
    failed: Sequence[Failed],
    asked: Sequence[Asked],
    *,
    may_settle: bool = False,
    notice: str = "",
) -> dict[str, Any]:
    """The view for one person, who may see all of this. `may_settle`: and change the settings of channels."""
    blocks = [
        *_notice(notice),
        *_about(may_settle=may_settle),
        *_knows(spaces),
        *_failures(failed),
        *_conversations(asked),
    ]
    return {"type": "home", "blocks": blocks[:MOST_BLOCKS]}


def _notice(notice: str) -> Iterator[Block]:
    if notice:
        yield _words([text(notice, bold=True)])


def _about(*, may_settle: bool) -> Iterator[Block]:
    yield {"type": "section", "text": {"type": "mrkdwn", "text": ABOUT()}}
    if may_settle:
        pressed = {"type": "button", "action_id": SETTINGS, "text": plain_text(SETTINGS_LABEL())}
        yield {"type": "section", "text": {"type": "mrkdwn", "text": SETTLE()}, "accessory": pressed}


def _knows(spaces: Sequence[Shown]) -> Iterator[Block]:
    yield _header(KNOWN())
    if not spaces:
        yield _words([text(NOTHING_HERE())])
    for one in spaces[:MOST_SPACES]:
        yield _words([text(f"{shorten(one.name)}: ", bold=True), text(_holds(one))])
    if len(spaces) > MOST_SPACES:
        yield _words([text(MORE_SPACES(number=len(spaces) - MOST_SPACES), italic=True)])


def _holds(one: Shown) -> str:
    failed = FAILED(failed=one.failed) if one.failed else ""
    if not one.documents or one.added_at is None:
        return f"{HOLDS_NOTHING()} {failed}".strip()
    return f"{HOLDS(documents=one.documents, date=f'{one.added_at:%Y-%m-%d}')} {failed}".strip()


def _failures(failed: Sequence[Failed]) -> Iterator[Block]:
    if not failed:
        return
    yield _header(NOT_ADDED())
    for one in failed[:MOST_FAILURES]:
        told = f" ({shorten(one.name)}): {shorten(one.problem, LONGEST_PROBLEM)}"
        yield _words([text(shorten(one.title) or UNTITLED(), bold=True), text(told)])


def _conversations(asked: Sequence[Asked]) -> Iterator[Block]:
    yield _header(ASKED_LAST())
    if not asked:
        yield _words([text(NOTHING_ASKED())])
    for one in asked[:MOST_CONVERSATIONS]:
        question = shorten(one.question, LONGEST_QUESTION) or NO_TEXT()
        yield _words([link(question, one.address), text(f" — {shorten(one.name)}, {one.asked_at:%Y-%m-%d}")])
        yield {"type": "actions", "elements": [_forget(one, question)]}


def _forget(one: Asked, question: str) -> dict[str, Any]:
    return {
        "type": "button",
        "action_id": FORGET,
        "text": plain_text(FORGET_LABEL()),
        "value": one.conversation,
        "style": "danger",
        "accessibility_label": shorten(FORGET_ALOUD(question=question), 75),
        "confirm": {
            "title": plain_text(FORGET_TITLE()),
            "text": plain_text(CONFIRM()),
            "confirm": plain_text(FORGET_LABEL()),
            "deny": plain_text(KEEP()),
            "style": "danger",
        },
    }


def _header(words: str) -> Block:
    return {"type": "header", "text": plain_text(words)}


def _words(line: list[dict[str, Any]]) -> Block:
    """Structure, not markup: nothing in a title can become a link or a ping."""
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": line}]}
