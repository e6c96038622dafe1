"""The bot as a service: Slack, the queue, its workers and the web application, put together from one product."""

import asyncio
import signal
from collections.abc import AsyncIterator, Collection, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import structlog
from pydantic import SecretStr

from bot import server
from bot.admin.admins import Admins
from bot.admin.application import mount
from bot.admin.desk import Desk, one_space, own_space
from bot.admin.links import Links
from bot.admin.openid import OpenId
from bot.channels.settings import Changers, Manner
from bot.database.engine import JOBS_SCHEMA, with_schema
from bot.forgetting import FILES_REST, let_files_go, tidy
from bot.inbox import Inbox
from bot.jobs import Queue, Tasks, open_queue
from bot.settings import Settings, SettingsError
from bot.slack.directory import known_names
from bot.slack.incoming import Manners
from bot.slack.installing.pages import OAuth
from bot.slack.service import Installation, Slack, Uses, open_slack
from bot.slack.start import SlackSetupError
from bot.slack.web import SlackError
from bot.wiring import Product, open_product, price_table
from crag_graph.knowledge.attached import Attached

SILENT = 60.0
"""Seconds without a connection to Slack after which the process does not count as ready."""

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Service:
    """What a process of the service works with."""

    product: Product
    inbox: Inbox
    queue: Queue
    slack: Slack
    links: Links


async def serve(settings: Settings, *, worker: bool) -> None:
    """Takes in what Slack sends, and works on it where `worker` says so, until the process is asked to stop.

    Raises SettingsError where the settings do not allow it.
    """
    _check(settings, alone=worker)
    async with _open_service(settings) as service:
        app = server.build(
            service.product.database.engine,
            [*service.slack.routes, mount(_desk(service))],
            checks=[lambda: _silence(service.slack)],
        )
        works = [server.run(app, host=settings.host, port=settings.port)]
        if service.slack.sockets:
            works.append(service.slack.sockets.listen())
        if worker:
            works.append(service.queue.work(_tasks(service), at_once=settings.workers))
        await until_stopped(*works, *_metrics(service))


async def work(settings: Settings) -> None:
    """Works on the queue until the process is asked to stop. Raises SettingsError."""
    _check(settings, alone=False)
    async with _open_service(settings) as service:
        await until_stopped(service.queue.work(_tasks(service), at_once=settings.workers), *_metrics(service))


def _metrics(service: Service) -> Iterator[Coroutine[Any, Any, None]]:
    settings = service.product.settings
    if settings.metrics_port:
        yield server.run(server.build_metrics(service.queue), host=settings.host, port=settings.metrics_port)


def _check(settings: Settings, *, alone: bool) -> None:
    if not settings.has_slack:
        raise SettingsError("SLACK_BOT_TOKEN is missing, and the bot lives in Slack. Set it, or use `crag chat`.")
    if not alone and settings.memory == "sqlite":
        raise SettingsError(
            "CRAG_MEMORY=sqlite is for one process, and the workers are others. Set CRAG_MEMORY=postgres."
        )
    if settings.metrics_port == settings.port:
        raise SettingsError("CRAG_METRICS_PORT is CRAG_PORT, too: numbers have a port of their own. Choose another.")


@asynccontextmanager
async def _open_service(settings: Settings) -> AsyncIterator[Service]:
    async with open_product(settings) as product:
        inbox = Inbox(product.database.engine)
        links = Links(product.database.engine, _admins(settings), address=settings.address)
        async with open_queue(with_schema(product.database.url, JOBS_SCHEMA)) as queue:
            uses = Uses(
                engine=product.database.engine,
                inbox=inbox,
                queue=queue,
                answering=product.answering,
                library=product.library,
                ingest=product.ingest,
                erase=product.eraser.erase_person,
                experts=product.experts,
                budget=product.budget,
                link=links.make_for,
            )
            async with _slack(settings, uses) as slack:
                yield Service(product=product, inbox=inbox, queue=queue, slack=slack, links=links)


@asynccontextmanager
async def _slack(settings: Settings, uses: Uses) -> AsyncIterator[Slack]:
    async with AsyncExitStack() as stack:
        try:
            slack = await stack.enter_async_context(open_slack(_installation(settings), uses))
        except SlackSetupError as error:
            raise SettingsError(str(error)) from error
        yield slack


def _installation(settings: Settings) -> Installation:
    socket = settings.slack_mode == "socket"
    return Installation(
        api_url=settings.slack_api_url,
        bot_token=_secret(settings.slack_bot_token),
        oauth=_oauth(settings),
        app_token=_secret(settings.slack_app_token) if socket else "",
        signing_secret="" if socket else _secret(settings.slack_signing_secret),
        admins=frozenset(settings.admins),
        limits={str(scope): most for scope, most in settings.limits.items()},
        manners=Manners(
            usual=Manner(settings.listen),
            channels={channel: Manner(manner) for channel, manner in settings.listen_in.items()},
            bots=frozenset(settings.bot_channels),
            changers=Changers(settings.settings_by),
        ),
    )


def _oauth(settings: Settings) -> OAuth | None:
    if settings.slack_install == "token" or settings.slack_client_id is None:
        return None
    return OAuth(
        client_id=settings.slack_client_id,
        client_secret=_secret(settings.slack_client_secret),
        address=settings.address,
    )


def _admins(settings: Settings) -> Admins:
    return Admins(named=frozenset(settings.admins), workspace=settings.workspace_admins)


def _desk(service: Service) -> Desk:
    product, settings = service.product, service.product.settings
    return Desk(
        engine=product.database.engine,
        admins=_admins(settings),
        links=service.links,
        openid=_openid(settings, service.slack),
        answering=product.answering,
        embedder=product.ingest.embedder,
        ingest=product.ingest,
        experts=product.experts,
        names=partial(_names, service.slack),
        everybody=one_space if service.slack.team else own_space,
        prices=price_table(settings),
        texts=settings.trace_text,
    )


async def _names(slack: Slack, team: str, people: Collection[str], channels: Collection[str]) -> Mapping[str, str]:
    try:
        installed = await slack.teams.of(team)
    except SlackError:
        return {}
    return await known_names(installed.directory, people, channels) if installed else {}


def _openid(settings: Settings, slack: Slack) -> OpenId | None:
    async def knows(team: str) -> bool:
        return slack.team in {"", team} and await slack.teams.of(team) is not None

    async def vouches(team: str, person: str) -> bool:
        try:
            installed = await slack.teams.of(team)
            return installed is not None and (await installed.directory.person(person)).admin
        except SlackError:
            return False

    if settings.slack_client_id is None:
        return None
    return OpenId(
        client_id=settings.slack_client_id,
        client_secret=_secret(settings.slack_client_secret),
        api_url=settings.slack_api_url,
        team=slack.team,
        knows=knows,
        vouches=vouches,
    )


def _tasks(service: Service) -> Tasks:
    async def tidy_up() -> None:
        days = service.product.settings.retention_days
        done = await tidy(service.product.memory, service.product.recorder, days=days)
        attached = Attached(engine=service.product.database.engine)
        files = await let_files_go(attached, service.inbox, days=min(days or FILES_REST, FILES_REST))
        if days:
            await service.inbox.delete_older(datetime.now(UTC) - timedelta(days=days))
        await service.slack.nightly.run()
        log.info("tidied", conversations=done.conversations, traces=done.traces, files=files)

    return Tasks(answer=service.slack.working.answer, ingest=service.slack.working.ingest, tidy=tidy_up)


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value() if value else ""


def _silence(slack: Slack) -> str | None:
    return f"no connection to Slack for {slack.silence:.0f} s" if slack.silence > SILENT else None


async def until_stopped(*works: Coroutine[Any, Any, None]) -> None:
    """Runs all of them until one fails, or the process is asked to stop (SIGTERM, SIGINT): then they are cancelled."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work) for work in works]
        await stop.wait()
        log.info("stopping")
        for task in tasks:
            task.cancel()
