"""What a claim asks: a message in its own words, or the question of an earlier answer once more."""

from dataclasses import dataclass, replace
from itertools import zip_longest

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.inbox import Claim
from bot.questions import QuestionError
from bot.slack import words
from bot.slack.directory import Directory
from bot.slack.incoming import Me, Message, files_of
from bot.slack.replies.presses import WISHES, pressed
from bot.slack.text.mrkdwn import channels_named, clean, decode, mentioned
from bot.slack.web import Web, heard
from bot.traces.reading import Row, find_run, latest_question


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question as it goes to `answering`. `retakes`: the question whose turn it takes the place of."""

    text: str
    permalink: str
    web_wanted: bool | None = None
    retakes: str = ""
    files: tuple[tuple[str, str], ...] = ()
    """That came with it, by id and name."""
    of_files: bool = False
    """The earlier answer was from files that came with its question, and from nothing else."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Reads what is asked."""

    engine: AsyncEngine
    me: Me
    web: Web
    directory: Directory

    async def read(self, claim: Claim, message: Message) -> Asked:
        """Raises QuestionError where the earlier answer is no longer known."""
        if press := pressed(claim):
            offer, trace = press
            run = await find_run(self.engine, trace, team=message.team)
            if run is None:
                raise QuestionError(words.GONE())
            return _once_more(run, WISHES[offer])
        if claim.payload.get("reread"):
            return await self._reread(claim, message)
        return Asked(
            text=await self._text(message),
            permalink=message.permalink(self.me),
            files=tuple(zip_longest(message.files, message.names[: len(message.files)], fillvalue="")),
        )

    async def _reread(self, claim: Claim, message: Message) -> Asked:
        """A question that was edited after it was answered."""
        found = await heard(
            self.web.patient.conversations_replies(
                channel=message.channel,
                ts=message.ts,
                oldest=message.ts,
                latest=message.ts,
                inclusive=True,
                limit=1,
            )
        )
        now = next((one for one in found.get("messages", ()) if one["ts"] == message.ts), None)
        if now is None or now.get("subtype") == "tombstone":
            raise QuestionError(words.QUESTION_GONE())
        permalink = message.permalink(self.me)
        before = await latest_question(self.engine, conversation=claim.conversation, permalink=permalink)
        text = await self._text(replace(message, text=clean(now.get("text") or "")))
        return Asked(text=text, permalink=permalink, retakes=before, files=files_of(now))

    async def _text(self, message: Message) -> str:
        names = await self.directory.names(mentioned(message.text) - {self.me.user}, channels_named(message.text))
        return decode(message.text, me=self.me.user, names=names)


def _once_more(run: Row, web_wanted: bool | None) -> Asked:
    return Asked(
        text=run["question"],
        permalink=run["permalink"],
        web_wanted=web_wanted,
        retakes=run["question"],
        of_files=list(run["spaces"]) == [run["conversation"]],
    )
