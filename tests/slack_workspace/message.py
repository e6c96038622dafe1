"""A message as a person sees it: for assertions."""

from dataclasses import dataclass

from tests.slack_workspace.screen import Link, Screen
from tests.slack_workspace.world import Account, Conversation, Json, Post, World


@dataclass(frozen=True, kw_only=True)
class Message:
    """A live view: it shows what the message is now, also after updates."""

    post: Post
    world: World

    @property
    def screen(self) -> str:
        """Everything that its reader sees, as plain text."""
        return self._look().text

    @property
    def links(self) -> tuple[Link, ...]:
        """What can be clicked on in the text, in order."""
        return self._look().links

    @property
    def pings(self) -> frozenset[str]:
        """Whom it would notify: ids of people and groups, and `channel`, `here`, `everyone`."""
        return self._look().pings

    @property
    def buttons(self) -> tuple[str, ...]:
        """The labels of its buttons, in order."""
        return self._look().buttons

    @property
    def text(self) -> str:
        """The `text` that notifications and screen readers use."""
        return self.post.text

    @property
    def blocks(self) -> list[Json]:
        return self.post.blocks

    @property
    def ts(self) -> str:
        return self.post.ts

    @property
    def root(self) -> str:
        """The ts of its thread."""
        return self.post.root

    @property
    def channel(self) -> Conversation:
        return self.post.channel

    @property
    def author(self) -> Account:
        return self.post.author

    @property
    def unfurls(self) -> bool:
        """Slack would add previews of its links below it."""
        return self.post.unfurls and bool(self.links)

    @property
    def is_private(self) -> bool:
        """Seen by one person only."""
        return self.post.only_for is not None

    @property
    def is_finished(self) -> bool:
        """Not being streamed any more."""
        return not self.post.is_streaming

    @property
    def is_deleted(self) -> bool:
        return self.post.deleted

    @property
    def versions(self) -> int:
        """How many versions readers saw."""
        return self.post.versions

    @property
    def reactions(self) -> frozenset[str]:
        return frozenset(self.post.reactions)

    def _look(self) -> Screen:
        return Screen.of(self.post, self.world)

    def __repr__(self) -> str:
        return f"<{self.author.name} in {self.channel.name or self.channel.kind}: {self.screen!r}>"
