"""What happens between Slack and the app: connections that end, events that come late or again."""

from tests.slack_workspace import posting
from tests.slack_workspace.delivery import Courier, Delivery, Kind, Retry
from tests.slack_workspace.installation import App
from tests.slack_workspace.message import Message
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.sockets import Sockets
from tests.slack_workspace.world import Json


class Network:
    def __init__(self, slack: Platform, app: App) -> None:
        self._slack = slack
        self._app = app

    @property
    def connections(self) -> int:
        """How many Socket Mode connections are open."""
        return len(self._sockets.connections)

    async def refreshes(self) -> None:
        """Slack renews its connections: a warning first, then `refresh_requested` and the end."""
        await self._sockets.disconnect("warning")
        await self._sockets.disconnect("refresh_requested", pause=self._slack.timing.disconnect_warning)

    async def disconnects(self, reason: str = "refresh_requested") -> None:
        """`refresh_requested`, `link_disabled`, `too_many_websockets`: told to go, and closed."""
        await self._sockets.disconnect(reason, pause=0.05)

    async def cuts(self) -> None:
        """The connections die without a word."""
        await self._sockets.cut()

    def holds_events(self, seconds: float) -> None:
        """Every event comes so much later."""
        self._courier.delay = seconds

    def kills_streams(self, *, after: int | None) -> None:
        """Each stream dies after so many appends (None: at its time only); what was appended stays."""
        self._slack.stream_appends = after

    def redelivers(self, message: Message, *, times: int = 1, attempt: int = 1, reason: str = "timeout") -> None:
        """The events of this message come again, acknowledged or not, with the same event_id.

        `attempt=0` is the repeat that does not say that it is one.
        """
        for event in self.events_of(message):
            for number in range(times):
                retry = Retry(number=attempt and attempt + number, reason=reason if attempt else "")
                self._courier.event(event.payload, first=retry)

    def sends(self, event: Json) -> Delivery:
        """Any event at all, in its envelope."""
        installation = next(i for i in self._slack.installations if i.app is self._app)
        return self._slack.raise_event(installation, event)

    def unfurls(self, message: Message, *, title: str = "A page") -> None:
        """Slack adds a preview to a message: a `message_changed` with the same text."""
        preview: Json = {"id": 1, "title": title, "fallback": title, "from_url": "https://example.com/"}
        posting.change(self._slack, message.post, is_edit=False, attachments=[preview])

    def events_of(self, message: Message) -> list[Delivery]:
        """The deliveries of the message's own events, without those of its changes."""
        found: dict[str, Delivery] = {}
        for delivery in self._courier.deliveries:
            event = delivery.payload["event"] if delivery.kind is Kind.EVENT else {}
            if (event.get("channel"), event.get("ts")) == (message.channel.id, message.ts):
                found.setdefault(delivery.payload["event_id"], delivery)
        return list(found.values())

    @property
    def _courier(self) -> Courier:
        return self._slack.couriers[self._app.id]

    @property
    def _sockets(self) -> Sockets:
        return self._slack.sockets[self._app.id]
