"""The pages where somebody installs the app in a team: Bolt's flow, in our words, by two addresses."""

import base64
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode, urljoin

import aiohttp
import structlog
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackClientError
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bot.slack.installing.client import OAuthClient
from bot.slack.installing.store import EXPIRE, Installations, OrgWideError, States, logger
from bot.slack.start import NICETIES, SCOPES
from crag_graph.phrases import LANGUAGES, SOURCE, Phrase, language, language_of_locale, speak

log = structlog.get_logger()

INSTALL = "/slack/install"
CALLBACK = "/slack/oauth_redirect"
OPTIONAL = frozenset({"mpim:history", "mpim:read"})
"""Niceties that the manifest leaves to whoever installs: Slack refuses a whole request for one that the app lacks."""

TITLE = Phrase("Install the bot")
INVITATION = Phrase(
    "It answers questions from your team's documents, checks what it found first, and names its sources. "
    "Slack asks you next what it may do in your workspace."
)
BUTTON = Phrase("Add to Slack")
DONE = Phrase("The bot is installed")
NEXT_STEPS = Phrase(
    "It is now in {team}. Invite it to a channel with /invite and mention it with a question, or write to it directly."
)
OPEN = Phrase("Open Slack")
NOT_DONE = Phrase("The bot was not installed")
AGAIN = Phrase("Start again")
STALE = Phrase("This installation was not begun in this browser, was done already, or took too long.")
REFUSED = {
    "access_denied": Phrase("Permission was not given in Slack. Nothing has changed."),
    "invalid_browser": STALE,
    "invalid_state": STALE,
}
NOT_CONFIRMED = Phrase("Slack did not confirm the installation.")
ORG_WIDE = Phrase(
    "It was installed for a whole organisation, and it can only work in single workspaces. "
    "An administrator of the organisation removes it there; then install it in one workspace."
)
NOT_NOW = Phrase("Slack or the database does not answer. Nothing was installed: try again shortly.")

STYLE = (
    "body{margin:0;font:1.05rem/1.5 system-ui,sans-serif;color:#1d1c1d;background:#f6f5f4}"
    "main{max-width:32rem;margin:12vh auto;padding:2rem;background:#fff;border-radius:.5rem}"
    "h1{margin-top:0;font-size:1.5rem}"
    "a{display:inline-block;padding:.6rem 1.2rem;border-radius:.3rem;color:#fff;background:#4a154b;text-decoration:none}"
    "a:focus-visible{outline:3px solid #1264a3;outline-offset:2px}"
)
HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@dataclass(frozen=True, kw_only=True)
class OAuth:
    """Our app at Slack. `address`: where browsers reach us, which Slack sends them back to."""

    client_id: str
    client_secret: str
    address: str


def install_routes(oauth: OAuth, installations: Installations, client: OAuthClient) -> list[Route]:
    flow = _Flow(client=client, logger=logger, settings=_settings(oauth, installations, api=client.base_url))
    return [Route(INSTALL, _page(flow.handle_installation)), Route(CALLBACK, _page(flow.handle_callback))]


def html(title: str, text: str, *, link: str = "", label: str = "") -> str:
    """One page: what is going on, and at most one way on."""
    way = f'<p><a href="{escape(link)}">{escape(label)}</a></p>' if link else ""
    return (
        f'<!doctype html><html lang="{language()}"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f"<body><main><h1>{escape(title)}</h1><p>{escape(text)}</p>{way}</main></body></html>"
    )


class _Flow(AsyncOAuthFlow):
    async def build_install_page_html(self, url: str, _request: AsyncBoltRequest) -> str:
        return html(TITLE(), INVITATION(), link=url, label=BUTTON())


def _settings(oauth: OAuth, installations: Installations, *, api: str) -> AsyncOAuthSettings:
    return AsyncOAuthSettings(
        client_id=oauth.client_id,
        client_secret=oauth.client_secret,
        scopes=sorted((SCOPES | NICETIES) - OPTIONAL),
        user_scopes=[],
        redirect_uri=f"{oauth.address.rstrip('/')}{CALLBACK}",
        install_path=INSTALL,
        redirect_uri_path=CALLBACK,
        callback_options=AsyncCallbackOptions(success=_succeeded, failure=_failed),
        authorization_url=urljoin(api, "../oauth/v2/authorize"),
        installation_store=installations,
        state_store=States(installations.engine),
        state_expiration_seconds=EXPIRE,
        logger=logger,
    )


async def _succeeded(args: AsyncSuccessArgs) -> BoltResponse:
    installed = args.installation
    log.info("team_installed", team=installed.team_id, by=installed.user_id)
    query = urlencode({"app": installed.app_id or "", "team": installed.team_id or ""})
    text = NEXT_STEPS(team=installed.team_name or installed.team_id)
    page = html(DONE(), text, link=f"https://slack.com/app_redirect?{query}", label=OPEN())
    return _answer(page, args.settings)


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    """`reason` may be anything that stood in the address: it is not shown, and logged where we know it."""
    known = args.reason in {*REFUSED, "missing_code", "invalid_code", "storage_error"}
    log.warning("team_not_installed", reason=args.reason if known else "told by the address")
    reason = REFUSED.get(args.reason, NOT_CONFIRMED)
    text = (ORG_WIDE if isinstance(args.error, OrgWideError) else reason)()
    return _answer(html(NOT_DONE(), text, link=INSTALL, label=AGAIN()), args.settings, args.suggested_status_code)


def _answer(page: str, settings: AsyncOAuthSettings, status: int = 200) -> BoltResponse:
    cookie = settings.state_utils.build_set_cookie_for_deletion()
    return BoltResponse(
        status=status, body=page, headers={"content-type": "text/html; charset=utf-8", "set-cookie": cookie}
    )


def _page(
    handle: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]],
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        speak(_preferred(request.headers.get("accept-language", "")))
        try:
            response = to_starlette_response(await handle(to_async_bolt_request(request, b"")))
        except (SQLAlchemyError, OSError, aiohttp.ClientError, TimeoutError, SlackClientError) as error:
            log.warning("team_not_installed", reason=type(error).__name__)
            response = HTMLResponse(html(NOT_DONE(), NOT_NOW(), link=INSTALL, label=AGAIN()), status_code=503)
        response.headers.update(HEADERS)
        return response

    return endpoint


def _preferred(accepted: str) -> str:
    """The first of the languages that a browser asks for, best first, that we speak."""
    wanted = (one.partition(";")[0].strip() for one in accepted.split(","))
    return next((language_of_locale(one) for one in wanted if one.lower()[:2] in LANGUAGES), SOURCE)
