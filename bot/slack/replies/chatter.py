"""What people said in a thread since our last answer, for whoever makes a follow-up question stand alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.inbox import Inbox
from bot.slack import words
from bot.slack.directory import Directory
from bot.slack.incoming import QUESTIONS, Me, Message
from bot.slack.text.mrkdwn import channels_named, clean, decode, mentioned
from bot.slack.web import SlackRefusedError, Web, heard

MOST_LINES = 10
LONGEST_LINE = 300
MOST_PAGES = 3
PAGE = 200


@dataclass(frozen=True, kw_only=True)
class Talk:
    """What was said, as `Name: text`, and the ids of those who said it."""

    lines: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


class Chatter:
    def __init__(self, web: Web, me: Me, directory: Directory, inbox: Inbox) -> None:
        self._web = web
        self._me = me
        self._directory = directory
        self._inbox = inbox

    async def before(self, message: Message) -> Talk:
        """The last lines before the message, oldest first; what was asked of us is not among them."""
        if not message.is_reply or not message.stands_in_slack:
            return Talk()
        known = await self._inbox.said(message.conversation)
        since = max((ts for ts in known.replied if ts < message.ts), default="0")
        said = [
            one
            for one in await self._messages(message, since)
            if since < one["ts"] < message.ts and one["ts"] not in known.asked and self._is_talk(one)
        ]
        last = said[-MOST_LINES:]
        people = tuple(sorted({str(one["user"]) for one in last}))
        return Talk(lines=tuple([await self._line(one) for one in last]), people=people)

    async def _messages(self, message: Message, since: str) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        cursor = ""
        for _ in range(MOST_PAGES):
            try:
                page = await heard(
                    self._web.patient.conversations_replies(
                        channel=message.channel,
                        ts=message.thread,
                        oldest=since,
                        latest=message.ts,
                        limit=PAGE,
                        cursor=cursor or None,
                    )
                )
            except SlackRefusedError:
                return found
            found += page.get("messages", ())
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        return found

    def _is_talk(self, one: Mapping[str, Any]) -> bool:
        """A person's own words, not meant for us."""
        is_person = bool(one.get("user")) and not one.get("bot_id") and one.get("subtype") in QUESTIONS
        return is_person and self._me.user not in mentioned(one.get("text") or "")

    async def _line(self, one: Mapping[str, Any]) -> str:
        text = clean(one.get("text") or "")
        names = await self._directory.names({one["user"], *mentioned(text)}, channels_named(text))
        said = " ".join(decode(text, me=self._me.user, names=names).split())
        return f"{names.get(one['user'], words.SOMEBODY())}: {said[:LONGEST_LINE]}"
