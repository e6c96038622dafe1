"""The Bolt app: which listener hears what, what listeners are given by name, and the one place that says sorry."""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.experts.answers import Experts
from bot.inbox import Inbox
from bot.jobs import Queue
from bot.slack import words
from bot.slack.directory import Directory
from bot.slack.incoming import Manners
from bot.slack.listeners.about import on_about, on_about_asked
from bot.slack.listeners.attached import on_files_kept, on_keep_files
from bot.slack.listeners.changes import on_answer_edited, on_changed, on_deleted, on_stop_pressed
from bot.slack.listeners.commands import Link, on_ask, on_forget, on_traces, on_unknown_command
from bot.slack.listeners.experts import on_still_right, on_tell_me
from bot.slack.listeners.feedback import on_feedback, on_reason
from bot.slack.listeners.home import on_home_forget, on_home_opened
from bot.slack.listeners.interactions import on_how
from bot.slack.listeners.keeping import on_keep, on_kept, on_what
from bot.slack.listeners.library import on_ingest
from bot.slack.listeners.messages import ignore, on_message, on_place_changed, on_removed, on_stop
from bot.slack.listeners.offers import on_offer
from bot.slack.listeners.settings import on_channel_chosen, on_home_settings, on_settings, on_settings_saved
from bot.slack.listeners.storing import on_store, on_stored
from bot.slack.listeners.taking import Taking
from bot.slack.teams import Teams
from bot.slack.views.about import ABOUT
from bot.slack.views.attached import KEEP_FILES
from bot.slack.views.experts import REMOVE, STILL_RIGHT
from bot.slack.views.home import FORGET, SETTINGS
from bot.slack.views.keeping import KEEP, WHAT
from bot.slack.views.offers import EDITED, FEEDBACK, HOW, STOP, Offer
from bot.slack.views.offers import KEEP as KEEP_BUTTON
from bot.slack.views.reason import REASON_GIVEN
from bot.slack.views.relay import STORE
from bot.slack.views.settings import CHANNEL_CHOSEN, SETTINGS_SAVED
from bot.slack.views.storing import STORED
from bot.slack.web import Web
from crag_graph.phrases import speak

log = structlog.get_logger()

ANYTHING = re.compile(".*")
PLACES = re.compile(r"(channel|group)_\w+|member_(joined|left)_channel")


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What listeners of every team may ask for, by the names of their parameters."""

    teams: Teams
    inbox: Inbox
    queue: Queue
    manners: Manners
    taking: Taking
    link: Link
    experts: Experts


def make_app(web: Web, parts: Parts) -> AsyncApp:
    """An app that acknowledges nothing before its listener has run: what is acknowledged is stored."""
    logger = logging.getLogger("slack.bolt")
    logger.setLevel(logging.INFO)  # at DEBUG Bolt logs what people wrote
    app = AsyncApp(
        name="crag",
        logger=logger,
        client=_client(web),
        authorize=_authorize(parts.teams),  # type: ignore[arg-type] # Bolt takes None, too: not installed
        process_before_response=True,
        raise_error_for_unhandled_request=True,  # Bolt would log the whole payload
        user_facing_authorize_error_message=words.NOT_INSTALLED(),
        request_verification_enabled=False,  # transports.py does it: Bolt answers 500 to a timestamp that is no number
        attaching_conversation_kwargs_enabled=False,
    )
    app.use(_giving(vars(parts)))
    app.use(_speak)
    _listen(app)
    app.error(on_error)
    return app


def _listen(app: AsyncApp) -> None:
    app.event({"type": "message", "subtype": "message_changed"})(on_changed)
    app.event({"type": "message", "subtype": "message_deleted"})(on_deleted)
    app.event("message")(on_message)
    app.event("app_mention")(on_message)
    app.event("agent_session_stopped")(on_stop)
    app.event("app_home_opened")(on_home_opened)
    app.event(PLACES)(on_place_changed)
    app.event(re.compile("app_uninstalled|tokens_revoked"))(on_removed)
    app.event(ANYTHING)(ignore)
    app.command("/crag-ask")(on_ask)
    app.command("/crag-ingest")(on_ingest)
    app.command("/crag-forget")(on_forget)
    app.command("/crag-traces")(on_traces)
    app.command("/crag-settings")(on_settings)
    app.command(ANYTHING)(on_unknown_command)
    app.action(FEEDBACK)(on_feedback)
    app.action(HOW)(on_how)
    app.view(REASON_GIVEN)(on_reason)
    app.action(SETTINGS)(on_home_settings)
    app.view(CHANNEL_CHOSEN)(on_channel_chosen)
    app.view(SETTINGS_SAVED)(on_settings_saved)
    app.action(STILL_RIGHT)(on_still_right)
    app.action(REMOVE)(on_still_right)
    app.action(Offer.TELL.value)(on_tell_me)  # before the others: the first listener that fits is taken
    for offer in Offer:
        app.action(offer.value)(on_offer)
    app.action(STORE)(on_store)
    app.view(STORED)(on_stored)
    app.action(FORGET)(on_home_forget)
    app.shortcut(KEEP)(on_keep)
    app.shortcut(ABOUT)(on_about)
    app.view(ABOUT)(on_about_asked)
    app.action(WHAT)(on_what)
    app.view(KEEP)(on_kept)
    app.action(KEEP_BUTTON)(on_keep_files)
    app.view(KEEP_FILES)(on_files_kept)
    app.action(EDITED)(on_answer_edited)
    app.action(STOP)(on_stop_pressed)
    app.action(ANYTHING)(acknowledge)


async def acknowledge(ack: Callable[[], Awaitable[Any]]) -> None:
    """A press that needs no answer, such as on a link."""
    await ack()


async def on_error(error: Exception, body: Mapping[str, Any]) -> BoltResponse:
    """Whatever failed was not taken. Slack sends events again; who ran a command is told to try again."""
    if isinstance(error, BoltUnhandledRequestError):
        log.info("payload_unknown", type=body.get("type"))
        return BoltResponse(status=404, body="")
    log.error("listener_failed", kind=type(error).__name__, exc_info=error)
    if "command" in body:
        return BoltResponse(status=200, body={"response_type": "ephemeral", "text": words.TRY_SHORTLY()})
    return BoltResponse(status=500, body="")


def _client(web: Web) -> AsyncWebClient:
    """A client without a token: Bolt makes one with the token of whom it authorizes for each request."""
    hasty = web.hasty
    return AsyncWebClient(base_url=hasty.base_url, session=web.session, logger=hasty.logger, retry_handlers=[])


def _authorize(teams: Teams) -> Callable[..., Awaitable[AuthorizeResult | None]]:
    """Whom we are in the team of the event; its listener is given what is ours there."""

    async def authorize(
        context: AsyncBoltContext, team_id: str | None = None, enterprise_id: str | None = None
    ) -> AuthorizeResult | None:
        team = await teams.of(team_id)
        if team is None:
            return None
        context.update(team.named())
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_token=team.web.token,
            bot_id=team.me.bot,
            bot_user_id=team.me.user,
        )

    return authorize


def _giving(named: Mapping[str, Any]) -> Callable[..., Awaitable[None]]:
    async def give(context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]) -> None:
        context.update(named)
        await next_()

    return give


async def _speak(body: Mapping[str, Any], context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]) -> None:
    """To whoever pressed, typed a command or opened the home tab; messages are answered by workers."""
    event: Mapping[str, Any] = body.get("event") or {}
    if event.get("type") in {None, "app_home_opened"} and context.user_id:
        asked = body.get("text", "") if body.get("command") == "/crag-ask" else ""
        directory: Directory = context["directory"]
        speak(await directory.language(context.user_id, asked))
    await next_()
