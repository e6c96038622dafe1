"""What becomes of an answer when its question is edited or deleted."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import structlog

from bot.inbox import Claim, Inbox, Item
from bot.slack.incoming import Me, Message
from bot.slack.replies.pace import Pace
from bot.slack.replies.signs import Signs
from bot.slack.replies.thread import placed_before, thread_of
from bot.slack.text.mrkdwn import clean
from bot.slack.views.offers import EDITED, button
from bot.slack.web import SlackRefusedError, Web, heard
from crag_graph.phrases import Phrase

log = structlog.get_logger()

SOON = 60.0
"""Seconds after the question within which an edit offers another answer."""
OFFER = Phrase("You edited your question after I answered it. I can answer it as it reads now.")
ANSWER = Phrase("Answer the edited question")


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A message whose text really changed: Slack tells of link previews and thread counters in the same way."""

    channel: str
    ts: str
    thread: str
    user: str
    text: str
    edited: str
    """When Slack saw it."""

    @classmethod
    def read(cls, event: Mapping[str, Any]) -> "Edit | None":
        now, before = event.get("message") or {}, event.get("previous_message") or {}
        edited, user = (now.get("edited") or {}).get("ts"), now.get("user")
        text = clean(now.get("text") or "")
        if not (edited and user and now.get("ts")) or text == clean(before.get("text") or ""):
            return None
        return cls(
            channel=event["channel"],
            ts=now["ts"],
            thread=now.get("thread_ts") or now["ts"],
            user=user,
            text=text,
            edited=edited,
        )

    @property
    def is_soon(self) -> bool:
        return float(self.edited) - float(self.ts) <= SOON


def to_offer(edit: Edit, team: str, conversation: str) -> Item:
    """The wish to offer another answer, once for each edit."""
    told = {"channel": edit.channel, "ts": edit.ts, "thread": edit.thread, "edited": edit.edited, "user": edit.user}
    return Item(
        team=team,
        channel=edit.channel,
        ts=f"{edit.ts}-edited-{edit.edited}",
        conversation=conversation,
        person=edit.user,
        payload={"edited": told},
    )


def edited_message(value: str, body: Mapping[str, Any]) -> tuple[Message, str]:
    """The question that a pressed button means, without its text, and when it was edited."""
    team, ts, edited, thread = value.split(":")
    channel, user = body["channel"]["id"], body["user"]["id"]
    return Message(team=team, channel=channel, ts=ts, thread=thread, user=user, text=""), edited


def again(message: Message, edited: str, conversation: str) -> Item:
    """The wish to answer an edited question once more; its text is read from Slack then."""
    return Item(
        team=message.team,
        channel=message.channel,
        ts=f"{message.ts}-again-{edited}",
        conversation=conversation,
        person=message.user,
        payload={"message": asdict(message), "reread": True},
    )


@dataclass(frozen=True, kw_only=True)
class SecondThoughts:
    """Works off what follows from an edit or a deletion."""

    me: Me
    web: Web
    inbox: Inbox
    pace: Pace

    async def offer(self, claim: Claim) -> None:
        """Tells the asker, and nobody else, that the edited question can be answered, too."""
        told: dict[str, Any] = claim.payload["edited"]
        is_reply = told["thread"] != told["ts"]
        section = {"type": "section", "text": {"type": "plain_text", "text": OFFER()}}
        pressed = button(EDITED, ANSWER(), ":".join([claim.team, told["ts"], told["edited"], told["thread"]]))
        try:
            await heard(
                self.web.patient.chat_postEphemeral(
                    channel=told["channel"],
                    user=told["user"],
                    thread_ts=told["thread"] if is_reply else None,
                    text=OFFER(),
                    blocks=[section, {"type": "actions", "elements": [pressed]}],
                )
            )
        except SlackRefusedError as refused:
            log.info("edit_not_offered", code=refused.code)

    async def withdraw(self, claim: Claim, message: Message) -> None:
        """The question is gone while it was worked on: so is what was shown of its answer."""
        thread = thread_of(claim, message, web=self.web, me=self.me)
        placed = await placed_before(claim, thread, self.inbox) | dict(enumerate(claim.replies))
        for ts in placed.values():
            try:
                await thread.retract(ts)
            except SlackRefusedError as refused:
                log.warning("message_not_removed", code=refused.code)
        signs = Signs(thread, self.pace, stoppable=True)
        await signs.take_stop()
        await signs.clear()
