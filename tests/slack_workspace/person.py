"""A person at this Slack: what she says, clicks, runs, opens, and what she is shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.slack_workspace import posting
from tests.slack_workspace.message import Message
from tests.slack_workspace.world import Account, Conversation, StoredFile

if TYPE_CHECKING:
    from tests.slack_workspace.workspace import SlackWorkspace


@dataclass(frozen=True, kw_only=True)
class Person:
    account: Account
    slack: "SlackWorkspace"

    @property
    def id(self) -> str:
        return self.account.id

    @property
    def name(self) -> str:
        return self.account.name

    @property
    def dm(self) -> Conversation:
        """Her direct messages with the bot."""
        return self.slack.dm(self)

    async def says(
        self,
        text: str,
        *,
        in_: Conversation | Message,
        files: Sequence[StoredFile] = (),
        also_to_channel: bool = False,
        as_typed: bool = True,
    ) -> Message:
        """Post a message; `in_` a message means in its thread. `as_typed=False` takes the text as Slack's markup."""
        place = in_.channel if isinstance(in_, Message) else in_
        subtype = "thread_broadcast" if also_to_channel else "file_share" if files else None
        for file in files:
            file.channels.append(place.id)
        post = posting.post(
            self.slack.platform,
            place,
            self.account,
            self.slack.typed(text, self.account.team) if as_typed else text,
            thread_ts=in_.root if isinstance(in_, Message) else None,
            subtype=subtype,
            broadcast=also_to_channel,
            files=list(files),
        )
        return self.slack.message(post)

    async def edits(self, message: Message, text: str) -> None:
        posting.change(self.slack.platform, message.post, text=self.slack.typed(text, self.account.team))

    async def deletes(self, message: Message) -> None:
        posting.delete(self.slack.platform, message.post)
