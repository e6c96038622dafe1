"""What people said in Slack, as the text of a document."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.slack import words
from bot.slack.directory import Directory, known_names
from bot.slack.incoming import QUESTIONS, Me
from bot.slack.text.mrkdwn import channels_named, clean, decode, mentioned
from bot.slack.web import Web, heard

PAGE = 200
MOST_PAGES = 5

Said = Mapping[str, Any]
"""A message as Slack tells it."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What somebody said in a thread."""

    ts: str
    author: str
    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Talk:
    """Reads messages. Names that are not known at once stay ids: a modal cannot wait for them."""

    me: Me
    web: Web
    directory: Directory

    async def text(self, message: Said) -> str:
        """The words of one message; empty where it has none."""
        return (await self._texts([message]))[0]

    async def find(self, channel: str, root: str, ts: str) -> str:
        """The words of the message as they are now. Raises SlackError."""
        told = await heard(
            self.web.hasty.conversations_replies(
                channel=channel, ts=root, oldest=ts, latest=ts, inclusive=True, limit=PAGE
            )
        )
        found = [one for one in told.get("messages", ()) if one["ts"] == ts]
        return await self.text(found[0]) if found else ""

    async def thread(self, channel: str, root: str) -> str:
        """All that was said in a thread, each message with its author and date; our own are left out: an answer that
        is stored would be found as its own source. Raises SlackError.
        """
        said = [one for one in await self._messages(channel, root) if self._is_talk(one)]
        names = await known_names(self.directory, {one["user"] for one in said if one.get("user")}, ())
        texts = await self._texts(said)
        return "\n\n".join(f"{_about(one, names)}: {text}" for one, text in zip(said, texts, strict=True) if text)

    async def newest(self, channel: str, root: str, *, after: str, but: str) -> Reply | None:
        """The newest message of a thread after a ts, by a person other than one; None without any. Raises SlackError."""
        said = [one for one in await self._messages(channel, root) if self._is_talk(one) and one.get("user")]
        theirs = [one for one in said if float(one["ts"]) > float(after) and one["user"] != but]
        if not theirs:
            return None
        last = theirs[-1]
        author = str(last["user"])
        names = await known_names(self.directory, {author}, ())
        return Reply(ts=last["ts"], author=author, name=names.get(author) or author, text=await self.text(last))

    def is_ours(self, message: Said) -> bool:
        ours = ((message.get("user"), self.me.user), (message.get("bot_id"), self.me.bot))
        return any(theirs and theirs == mine for theirs, mine in ours)

    def _is_talk(self, message: Said) -> bool:
        return not self.is_ours(message) and message.get("subtype") in {*QUESTIONS, "bot_message"}

    async def _texts(self, messages: Iterable[Said]) -> list[str]:
        texts = [clean(one.get("text") or "") for one in messages]
        people = {person for text in texts for person in mentioned(text)} - {self.me.user}
        channels = {channel for text in texts for channel in channels_named(text)}
        names = await known_names(self.directory, people, channels)
        return [decode(text, me=self.me.user, names=names) for text in texts]

    async def _messages(self, channel: str, root: str) -> list[Said]:
        found: list[Said] = []
        cursor = ""
        for _ in range(MOST_PAGES):
            told = await heard(
                self.web.hasty.conversations_replies(channel=channel, ts=root, limit=PAGE, cursor=cursor or None)
            )
            found += told.get("messages", ())
            cursor = (told.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        return found


def _about(message: Said, names: Mapping[str, str]) -> str:
    author = names.get(message.get("user") or "") or message.get("username") or words.SOMEBODY()
    return f"{author}, {datetime.fromtimestamp(float(message['ts']), UTC):%Y-%m-%d}"
