"""The one place that holds this Slack together: world, apps, couriers, clock, and who is told of what."""

from collections.abc import Callable, Iterable, Iterator
from random import Random

import aiohttp

from tests.slack_workspace import events
from tests.slack_workspace.calls import Logged
from tests.slack_workspace.clock import Clock
from tests.slack_workspace.delivery import Courier, Delivery, Kind, Transport
from tests.slack_workspace.faults import Faults
from tests.slack_workspace.feed import Feed
from tests.slack_workspace.grants import Grants
from tests.slack_workspace.handles import ResponseUrls, Triggers
from tests.slack_workspace.http_delivery import HttpDelivery
from tests.slack_workspace.installation import App, Installation, Manifest
from tests.slack_workspace.rate_limits import RateLimits
from tests.slack_workspace.sessions import Sessions
from tests.slack_workspace.sockets import Sockets
from tests.slack_workspace.timing import Timing
from tests.slack_workspace.uploads import Uploads
from tests.slack_workspace.views import Views
from tests.slack_workspace.world import Account, Conversation, Json, Team, World


class Platform:
    def __init__(self, *, timing: Timing, rate_limits: bool, random: Random) -> None:
        self.timing = timing
        self.clock = Clock()
        self.world = World(self.clock)
        self.feed = Feed()
        self.faults = Faults()
        self.rate_limits = RateLimits(clock=self.clock, minute=timing.minute, enabled=rate_limits)
        self.triggers = Triggers(clock=self.clock, lives=timing.trigger_lives)
        self.response_urls = ResponseUrls(
            clock=self.clock, lives=timing.response_url_lives, uses=timing.response_url_uses
        )
        self.views = Views()
        self.grants = Grants()
        self.uploads = Uploads()
        self.sessions = Sessions(clock=self.clock, status_lives=timing.status_lives)
        self.apps: dict[str, App] = {}
        self.installations: list[Installation] = []
        self.sockets: dict[str, Sockets] = {}
        self.couriers: dict[str, Courier] = {}
        self.calls: list[Logged] = []
        self.org_wide = False
        """Whoever installs an app now, does it for the whole organisation."""
        self.rotating = False
        """Apps get tokens that expire, and others to renew them with."""
        self.at_the_browser: Account | None = None
        """Who signs in where an app sends its browser to this Slack."""
        self.stream_appends: int | None = None
        """Where a test says so, a stream dies after so many appends."""
        self.host = ""
        """Where this Slack is reached, with a slash at the end."""
        self._random = random
        self._session: aiohttp.ClientSession | None = None

    def open(self, host: str) -> None:
        self.host = host
        self._session = aiohttp.ClientSession()

    async def close(self) -> None:
        for courier in self.couriers.values():
            await courier.close()
        for sockets in self.sockets.values():
            await sockets.close()
        if self._session:
            await self._session.close()

    def register(self, manifest: Manifest) -> App:
        """A new app, known to Slack and installed nowhere."""
        app_id = self.world.mint("A")
        app = App(
            id=app_id,
            manifest=manifest,
            app_token=f"xapp-1-{app_id}-{len(self.apps) + 1}-local",
            client_id=f"{len(self.apps) + 1:012d}.{len(self.apps) + 1:012d}",
        )
        self.apps[app.id] = app
        self.sockets[app.id] = Sockets(app_id=app.id, random=self._random, notify=self.feed.notify)
        self.couriers[app.id] = Courier(
            transport=lambda: self._transport(app), timing=self.timing, notify=self.feed.notify
        )
        return app

    def install(self, app: App, team: Team) -> Installation:
        """The app joins the team: a bot user and a token. Where it was before, its bot user comes back."""
        known = next((one for one in self.installations if one.app is app and one.team is team), None)
        if known:
            known.renew(scopes=set(app.manifest.scopes))
            return known
        name = app.manifest.name
        bot = self.world.account(team, name, is_bot=True, app_id=app.id, bot_id=self.world.mint("B"))
        token = f"xoxb-{team.id}-{bot.id}-local"
        installation = Installation(app=app, team=team, bot=bot, token=token, scopes=set(app.manifest.scopes))
        self.installations.append(installation)
        return installation

    def tell(
        self, team: Team, what: Callable[[Installation], Iterable[Json]], *, place: Conversation | None = None
    ) -> list[Delivery]:
        """Raise events for every app of the team that hears them."""
        return [
            self.raise_event(installation, event, shared=bool(place and place.shared))
            for installation in self._installed_in(team)
            for event in what(installation)
        ]

    def raise_event(self, installation: Installation, event: Json, *, shared: bool = False) -> Delivery:
        payload = events.envelope(
            installation, event, event_id=self.world.mint("Ev"), at=self.clock.now(), shared=shared
        )
        return self.couriers[installation.app.id].event(payload)

    def _installed_in(self, team: Team) -> Iterator[Installation]:
        return (installation for installation in self.installations if installation.team is team)

    def _transport(self, app: App) -> Transport:
        if app.request_url is None:
            return self.sockets[app.id]
        if self._session is None:
            raise RuntimeError("This Slack is not open.")
        urls = {
            Kind.EVENT: app.request_url,
            Kind.COMMAND: app.command_url or app.request_url,
            Kind.INTERACTION: app.interactivity_url or app.request_url,
        }
        return HttpDelivery(session=self._session, urls=urls, secret=app.signing_secret)
