"""The HTTP and websocket front of this Slack, on one port of the loopback."""

from aiohttp import web

from tests.slack_workspace.calls import Refusal
from tests.slack_workspace.downloads import Downloads
from tests.slack_workspace.oauth import OAuthPages
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.responses import respond
from tests.slack_workspace.spoiling import spoil
from tests.slack_workspace.web_api import WebApi
from tests.slack_workspace.world import Json


class Server:
    def __init__(self, slack: Platform) -> None:
        self._slack = slack
        self._runner: web.AppRunner | None = None

    async def start(self, port: int) -> str:
        """Listen, and say where."""
        app = web.Application(client_max_size=64 * 1024**2)
        downloads, pages = Downloads(self._slack), OAuthPages(self._slack)
        app.add_routes(
            [
                web.route("*", "/api/{method}", WebApi(self._slack).serve),
                web.get("/link/", self._socket),
                web.post("/response/{key:.+}", self._response),
                web.get("/files-pri/{file}/{rest:.+}", downloads.serve),
                web.post("/upload/v1/{key}", downloads.take),
                web.get("/oauth/v2/authorize", pages.authorize),
                web.get("/openid/connect/authorize", pages.sign_in),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        host, bound = self._runner.addresses[0][:2]
        return f"http://{host}:{bound}/"

    async def stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        sockets = self._slack.sockets.get(request.query.get("app_id", ""))
        return await sockets.serve(request) if sockets else web.Response(status=404)

    async def _response(self, request: web.Request) -> web.Response:
        """A response_url: JSON in, `ok` out."""
        fault = self._slack.faults.strike("response_url")
        if fault and (spoiled := await spoil(fault, request)):
            return spoiled
        try:
            body: Json = await request.json()
            respond(self._slack, request.match_info["key"], body)
        except (Refusal, ValueError) as refusal:
            error = refusal.error if isinstance(refusal, Refusal) else "invalid_payload"
            gone = error in {"expired_url", "used_url", "invalid_url"}
            return web.json_response({"ok": False, "error": error}, status=404 if gone else 200)
        return web.json_response({"ok": True})
