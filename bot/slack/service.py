"""The Slack side of the bot put together: what wiring starts, mounts and hands to the queue."""

import copy
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.routing import Route

from bot.answering import Answering
from bot.budget.budget import Budget
from bot.channels.store import Channels
from bot.experts.answers import Experts
from bot.inbox import Inbox
from bot.jobs import Queue
from bot.slack.app import Parts, make_app
from bot.slack.directory import Directory
from bot.slack.documents.files import Files
from bot.slack.documents.ingesting import Ingesting
from bot.slack.documents.reading import Reader
from bot.slack.documents.talk import Talk
from bot.slack.incoming import Manners, Me
from bot.slack.installing.client import OAuthClient
from bot.slack.installing.pages import OAuth, install_routes
from bot.slack.installing.store import Installations, logger
from bot.slack.installing.teams import InstalledTeams
from bot.slack.listeners.commands import Link
from bot.slack.listeners.interactions import Traces
from bot.slack.listeners.keeping import Keeping
from bot.slack.listeners.library import Shelf
from bot.slack.listeners.taking import Taking
from bot.slack.nightly import Nightly
from bot.slack.replies.answers import Answers
from bot.slack.replies.asked import Asking
from bot.slack.replies.forgetting import EraseEverything, Forgetting
from bot.slack.replies.home import Home
from bot.slack.replies.inquiry import Inquiry
from bot.slack.replies.pace import Pace
from bot.slack.replies.relay import Relay
from bot.slack.replies.second_thoughts import SecondThoughts
from bot.slack.replies.treasurer import Treasurer
from bot.slack.start import check_app_token, introduce
from bot.slack.teams import OneTeam, Team, Teams
from bot.slack.transports import SILENT, Sockets, http_routes
from bot.slack.web import Web, make_web, open_session, open_web
from bot.slack.working import Working
from crag_graph.knowledge.attached import Attached
from crag_graph.knowledge.ingest import Ingest
from crag_graph.knowledge.library import Library


@dataclass(frozen=True, kw_only=True)
class Installation:
    """The app at Slack. With `app_token` it listens by Socket Mode, with `signing_secret` by HTTP.

    It is in the one team of `bot_token`; or, with `oauth` and by HTTP alone, in every team that installs it.
    `admins`: ids of people; `TEAM:PERSON` counts in that team alone.
    """

    api_url: str
    bot_token: str = ""
    oauth: OAuth | None = None
    app_token: str = ""
    signing_secret: str = ""
    admins: frozenset[str] = frozenset()
    manners: Manners = field(default_factory=Manners)
    limits: Mapping[str, int] = field(default_factory=dict)
    """Questions an hour by `person`, `channel` and `team`."""
    silent: float = SILENT


async def no_link(_team: str, _person: str, _admin: bool) -> None:
    """Where there are no review pages."""


@dataclass(frozen=True, kw_only=True)
class Uses:
    """What the Slack side stands on."""

    engine: AsyncEngine
    inbox: Inbox
    queue: Queue
    answering: Answering
    library: Library
    ingest: Ingest
    erase: EraseEverything
    experts: Experts
    link: Link = no_link
    budget: Budget | None = None
    """What each team may spend in a day."""


@dataclass(frozen=True, kw_only=True)
class Slack:
    """`working` works off the queue, `nightly` does what is done once a day; `sockets` or `routes` take in what Slack sends."""

    team: str
    """The only one there can be; empty where each team installs the app itself."""
    teams: Teams
    working: Working
    nightly: Nightly
    sockets: Sockets | None
    routes: tuple[Route, ...]

    @property
    def silence(self) -> float:
        """Seconds without a connection to Slack; 0 where all is well."""
        return self.sockets.silence if self.sockets else 0.0


@asynccontextmanager
async def open_slack(installation: Installation, uses: Uses, *, pace: Pace | None = None) -> AsyncIterator[Slack]:
    """Raises SlackSetupError where a token or scope is wrong."""
    pace = pace or Pace()
    if installation.oauth:
        opened = _open_installed(installation, installation.oauth, uses, pace)
    else:
        opened = _open_one(installation, uses, pace)
    async with opened as slack:
        yield slack


@asynccontextmanager
async def _open_one(installation: Installation, uses: Uses, pace: Pace) -> AsyncIterator[Slack]:
    """In the team of the bot token."""
    async with open_web(installation.api_url, installation.bot_token) as web:
        me = await introduce(web)
        if installation.app_token:
            await check_app_token(web, installation.app_token)
        teams = OneTeam(make_team(web, me, installation, uses, pace))
        app = make_app(web, _parts(teams, installation, uses))
        sockets = (
            Sockets(app, web, installation.app_token, silent=installation.silent) if installation.app_token else None
        )
        yield Slack(
            team=me.team,
            teams=teams,
            working=Working(teams=teams, inbox=uses.inbox),
            nightly=_nightly(teams, uses),
            sockets=sockets,
            routes=tuple(http_routes(app, installation.signing_secret)) if installation.signing_secret else (),
        )


@asynccontextmanager
async def _open_installed(installation: Installation, oauth: OAuth, uses: Uses, pace: Pace) -> AsyncIterator[Slack]:
    """In every team that has installed the app."""
    async with open_session() as session:
        installations = Installations(uses.engine, oauth.client_id)
        client = OAuthClient(base_url=installation.api_url, session=session, logger=logger, retry_handlers=[])
        teams = InstalledTeams(
            installations,
            web=lambda token: make_web(session, installation.api_url, token),
            make=lambda web, me: make_team(web, me, installation, uses, copy.deepcopy(pace)),
            rotator=AsyncTokenRotator(client_id=oauth.client_id, client_secret=oauth.client_secret, client=client),
        )
        nobody = make_web(session, installation.api_url, "")
        app = make_app(nobody, _parts(teams, installation, uses))
        yield Slack(
            team="",
            teams=teams,
            working=Working(teams=teams, inbox=uses.inbox),
            nightly=_nightly(teams, uses),
            sockets=None,
            routes=(
                *http_routes(app, installation.signing_secret),
                *install_routes(oauth, installations, client),
            ),
        )


def _parts(teams: Teams, installation: Installation, uses: Uses) -> Parts:
    return Parts(
        teams=teams,
        inbox=uses.inbox,
        queue=uses.queue,
        manners=installation.manners,
        taking=Taking(uses.inbox, uses.queue),
        link=uses.link,
        experts=uses.experts,
    )


def _nightly(teams: Teams, uses: Uses) -> Nightly:
    return Nightly(
        teams=teams,
        engine=uses.engine,
        answering=uses.answering,
        embedder=uses.ingest.embedder,
        experts=uses.experts,
    )


def make_team(web: Web, me: Me, installation: Installation, uses: Uses, pace: Pace) -> Team:
    """What is ours in one team. `pace` is the team's own: Slack counts calls by app and workspace."""
    directory, attached = Directory(web), Attached(engine=uses.engine)
    files = Files(web, token=web.token, api_url=installation.api_url)
    channels = Channels(uses.engine, installation.manners.settings)
    home = Home(me=me, web=web, engine=uses.engine, directory=directory)
    shelf = Shelf(
        me=me,
        channels=channels,
        directory=directory,
        library=uses.library,
        attached=attached,
        inbox=uses.inbox,
        queue=uses.queue,
        admins=_of_team(installation.admins, me.team),
    )
    return Team(
        me=me,
        web=web,
        directory=directory,
        home=home,
        shelf=shelf,
        keeping=Keeping(shelf=shelf, talk=Talk(me=me, web=web, directory=directory)),
        traces=Traces(engine=uses.engine, me=me, directory=directory),
        answers=Answers(
            me=me,
            web=web,
            inbox=uses.inbox,
            answering=uses.answering,
            channels=channels,
            limits=installation.limits,
            treasurer=Treasurer(
                budget=uses.budget, web=web, directory=directory, admins=_of_team(installation.admins, me.team)
            ),
            asking=Asking(engine=uses.engine, me=me, web=web, directory=directory),
            inquiry=Inquiry(me=me, web=web, inbox=uses.inbox, directory=directory, attached=attached),
            reader=Reader(inbox=uses.inbox, ingest=uses.ingest, files=files, attached=attached),
            attached=attached,
            pace=pace,
            relay=Relay(me=me, web=web, inbox=uses.inbox, engine=uses.engine, channels=channels, directory=directory),
            second_thoughts=SecondThoughts(me=me, web=web, inbox=uses.inbox, pace=pace),
            forgetting=Forgetting(web=web, inbox=uses.inbox, forget=uses.answering.forget, home=home, erase=uses.erase),
        ),
        ingesting=Ingesting(
            me=me,
            web=web,
            inbox=uses.inbox,
            ingest=uses.ingest,
            files=files,
            attached=attached,
        ),
    )


def _of_team(admins: frozenset[str], team: str) -> frozenset[str]:
    """The ids of those who are admins in this team."""
    return frozenset(one.removeprefix(f"{team}:") for one in admins if ":" not in one or one.startswith(f"{team}:"))
