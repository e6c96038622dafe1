"""Shows what an app does as it happens: messages, their changes, statuses, modals, home tabs."""

from collections.abc import Callable, Iterator

from tests.slack_workspace.modal import Modal
from tests.slack_workspace.workspace import SlackWorkspace
from tests.slack_workspace.world import Conversation, Post


class Watcher:
    """Remembers what it has shown, and shows what is new."""

    def __init__(self, slack: SlackWorkspace, show: Callable[[str], None]) -> None:
        self._slack = slack
        self._show = show
        self._shown: dict[str, str] = {}

    async def run(self) -> None:
        """For ever: look whenever anything happened."""
        feed = self._slack.platform.feed
        while True:
            changed = feed.changed
            self.look()
            await changed.wait()

    def look(self) -> None:
        """Show what is new now."""
        for key, title, screen in self._everything():
            self._tell(key, title, screen)

    def _tell(self, key: str, title: str, screen: str) -> None:
        if self._shown.get(key, "") == screen:
            return
        again = " (changed)" if key in self._shown else ""
        self._shown[key] = screen
        if screen:
            self._show(f"{title}{again}:\n" + "\n".join(f"  │ {line}" for line in screen.splitlines()))

    def _everything(self) -> Iterator[tuple[str, str, str]]:
        """What stands on the screens: its identity, a title, the text."""
        platform = self._slack.platform
        for place in list(platform.world.conversations.values()):
            for post in [*place.posts.values(), *place.shown]:
                if (post.author.is_bot or post.only_for) and not post.is_streaming and not post.deleted:
                    yield post.ts, self._title(place, post), self._slack.message(post).screen
        for (channel, thread), status in platform.sessions.showing().items():
            yield f"status {channel} {thread}", f"{self._slack.bot.name} …", status
        for view in [*platform.views.modals, *platform.views.homes.values()]:
            modal = Modal(view=view, world=platform.world)
            screen = "" if view.closed else modal.screen
            yield view.id, f"[{modal.title or 'Home'}] of {view.person.name}", screen

    def _title(self, place: Conversation, post: Post) -> str:
        where = f"#{place.name}" if place.name else "direct messages"
        thread = " in a thread" if post.thread_ts else ""
        alone = ""
        if post.only_for:
            alone = f", only for {self._slack.platform.world.accounts[post.only_for].name}"
        return f"{post.author.name} ({where}{thread}{alone})"
