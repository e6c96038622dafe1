"""`crag doctor`: looks at everything an installation needs, and says what to do."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.text import Text
from sqlalchemy import text

from bot.cli.printing import line
from bot.database import DatabaseError
from bot.memory import MemoryAwayError
from bot.settings import Settings
from bot.slack.start import SlackSetupError, check_app_token, introduce
from bot.slack.web import open_web
from bot.wiring import Database, chat_model, embedder, local_embedder, open_database, open_memory, web_search
from crag_graph.chat import object_schema
from crag_graph.knowledge.index import prepare_index
from crag_graph.knowledge.library import Library
from crag_graph.services import ServiceError

PATIENCE = 30.0
"""Seconds for one check."""
LEAST_ROOM = 1_000_000_000
"""Bytes on the disk below which it is worth a warning."""


class Health(StrEnum):
    """How something is."""

    FINE = "fine"
    LOOK = "look"
    BROKEN = "broken"


SHOWN = {Health.FINE: ("✓", "green"), Health.LOOK: ("!", "yellow"), Health.BROKEN: ("✗", "red")}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was looked at, how it is, and what to do where it is not fine."""

    what: str
    health: Health
    detail: str
    advice: str = ""


async def doctor(settings: Settings, *, as_json: bool) -> int:
    """0 where nothing is broken."""
    findings: list[Finding] = []
    console = Console(highlight=False)
    async for finding in examine(settings):
        findings.append(finding)
        if not as_json:
            _print(console, finding)
    if as_json:
        print(line([asdict(finding) for finding in findings]))
    return int(any(finding.health is Health.BROKEN for finding in findings))


async def examine(settings: Settings) -> AsyncIterator[Finding]:
    """Each finding as soon as it is there."""
    yield fine("crag", f"version {version('crag')}, settings {settings.fingerprint}")
    yield _folder(settings.data_dir)
    try:
        async with open_database(settings) as database:
            yield await _postgres(database)
            yield await _in_time("library", _library(settings, database))
            yield await _in_time("memory", _memory(settings, database))
    except DatabaseError as error:
        advice = "Check DATABASE_URL, and that the server runs." if settings.database_url else "Look into its log."
        yield broken("database", str(error), advice)
    for what, check in (("chat model", _chat(settings)), ("web search", _web(settings)), ("Slack", _slack(settings))):
        yield await _in_time(what, check)


def fine(what: str, detail: str) -> Finding:
    return Finding(what=what, health=Health.FINE, detail=detail)


def broken(what: str, detail: str, advice: str) -> Finding:
    return Finding(what=what, health=Health.BROKEN, detail=detail, advice=advice)


async def _in_time(what: str, check: Awaitable[Finding]) -> Finding:
    try:
        async with asyncio.timeout(PATIENCE):
            return await check
    except TimeoutError:
        return broken(what, f"no answer within {PATIENCE:.0f} s", "Check the address and the network.")


def _folder(folder: Path) -> Finding:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        room = shutil.disk_usage(folder).free
    except OSError as error:
        return broken(
            "data folder", f"{folder.absolute()}: {error.strerror}", "Set CRAG_DATA_DIR to a folder of yours."
        )
    if not os.access(folder, os.W_OK):
        return broken(
            "data folder", f"{folder.absolute()} cannot be written", "Set CRAG_DATA_DIR to a folder of yours."
        )
    detail = f"{folder.absolute()}, {room / 1e9:.1f} GB free"
    if room < LEAST_ROOM:
        return Finding(what="data folder", health=Health.LOOK, detail=detail, advice="Make room on the disk.")
    return fine("data folder", detail)


async def _postgres(database: Database) -> Finding:
    query = text(
        "SELECT current_setting('server_version'), "
        "(SELECT extversion FROM pg_extension WHERE extname = 'vector'), "
        "(SELECT version_num FROM alembic_version)"
    )
    async with database.engine.connect() as connection:
        postgres, vector, revision = (await connection.execute(query)).one()
    return fine("database", f"Postgres {postgres}, pgvector {vector}, migrated to {revision}")


async def _library(settings: Settings, database: Database) -> Finding:
    try:
        async with AsyncExitStack() as stack:
            chosen = await embedder(settings, await local_embedder(), stack)
            await chosen.embed(["Is anybody there?"])
            await prepare_index(database.engine, model=chosen.name, dimensions=chosen.dimensions)
            counts = await Library(database.engine, model=chosen.name).counts()
    except ServiceError as error:
        return broken("library", str(error), "Check CRAG_EMBEDDINGS, OPENAI_BASE_URL and OPENAI_API_KEY.")
    detail = f"{counts.documents} documents, {counts.passages} passages, embedded by {chosen.name}"
    if not counts.documents:
        advice = "Take documents in: crag ingest FOLDER"
        return Finding(what="library", health=Health.LOOK, detail=detail, advice=advice)
    if counts.failed or counts.stale:
        detail += f"; {counts.failed} failed, {counts.stale} passages wait to be embedded"
        return Finding(
            what="library", health=Health.LOOK, detail=detail, advice="Read them again: crag library refresh --all"
        )
    return fine("library", detail)


async def _memory(settings: Settings, database: Database) -> Finding:
    try:
        async with open_memory(settings, database):
            return fine("memory", settings.memory)
    except MemoryAwayError as error:
        return broken("memory", str(error), "Move the file away, or set CRAG_DATA_DIR to a folder of yours.")


async def _chat(settings: Settings) -> Finding:
    async with AsyncExitStack() as stack:
        model = chat_model(settings, stack)
        if model is None:
            detail = "none is set up: answers are quoted from the sources"
            return Finding(
                what="chat model", health=Health.LOOK, detail=detail, advice="Set OPENAI_API_KEY or OPENAI_BASE_URL."
            )
        schema = object_schema("doctor", word={"type": "string"})
        try:
            await model.ask("doctor", [("user", 'Reply with JSON only: {"word": "fine"}')], schema)
        except ServiceError as error:
            advice = "Check OPENAI_BASE_URL, OPENAI_API_KEY and CRAG_CHAT_MODEL."
            return broken("chat model", f"{settings.chat_model}: {error}", advice)
        return fine("chat model", settings.chat_model)


async def _web(settings: Settings) -> Finding:
    async with AsyncExitStack() as stack:
        web = web_search(settings, stack)
        if not web.available:
            advice = "Set TAVILY_API_KEY or CRAG_SEARXNG_URL."
            return Finding(what="web search", health=Health.LOOK, detail="it is off", advice=advice)
        try:
            pages = await web.search("Postgres release notes", limit=1)
        except ServiceError as error:
            advice = "Check TAVILY_API_KEY, or CRAG_SEARXNG_URL and its JSON output."
            return broken("web search", f"{settings.web_search}: {error}", advice)
        return fine("web search", f"{settings.web_search}, {len(pages)} page found")


async def _slack(settings: Settings) -> Finding:
    if settings.slack_install == "oauth":
        return fine("Slack", f"teams install the app at {settings.address}/slack/install; see `crag team list`")
    if settings.slack_bot_token is None:
        detail = "it is not set up: the bot can be used from the terminal"
        return Finding(
            what="Slack", health=Health.LOOK, detail=detail, advice="Set SLACK_BOT_TOKEN and SLACK_APP_TOKEN."
        )
    try:
        async with open_web(settings.slack_api_url, settings.slack_bot_token.get_secret_value()) as web:
            me = await introduce(web)
            if settings.slack_mode == "socket" and settings.slack_app_token:
                await check_app_token(web, settings.slack_app_token.get_secret_value())
    except SlackSetupError as error:
        return broken("Slack", str(error), "The README tells how the app is made: In Slack, in five minutes.")
    return fine("Slack", f"team {me.team} at {me.url}, {settings.slack_mode} mode")


def _print(console: Console, finding: Finding) -> None:
    sign, colour = SHOWN[finding.health]
    console.print(Text.assemble((f"{sign} ", colour), (f"{finding.what:<12}", "bold"), " ", finding.detail))
    if finding.advice:
        console.print(Text(f"  → {finding.advice}", style=colour))
