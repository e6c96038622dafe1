"""The Web API's front door: who calls, may they, how often, does it go wrong; then the method itself."""

import base64
import json

from aiohttp import web

from tests.slack_workspace import arguments
from tests.slack_workspace.calls import Call, Logged, Refusal
from tests.slack_workspace.installation import App, Installation
from tests.slack_workspace.method_table import METHODS
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.spoiling import spoil
from tests.slack_workspace.world import Json

_NO_TOKEN = frozenset({"api.test", "oauth.v2.access", "openid.connect.token"})
_PERSONS_TOKEN = frozenset({"openid.connect.userInfo"})
_APP_TOKEN = frozenset({"apps.connections.open"})


class WebApi:
    def __init__(self, slack: Platform) -> None:
        self._slack = slack

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One call, from the request to the response."""
        method = request.match_info["method"]
        fault = self._slack.faults.strike(method)
        if fault and not fault.late and (spoiled := await spoil(fault, request)):
            self._log(method, {}, json.loads(spoiled.text or "{}"), spoiled.status)
            return spoiled
        args: Json = {}
        try:
            args = await arguments.read(request)
            body, status, headers = self._answer(method, args, request)
        except Refusal as refusal:
            body, status, headers = refusal.body(), 200, {}
        self._log(method, args, body, status)
        if fault and fault.late and (spoiled := await spoil(fault, request)):
            return spoiled
        return web.json_response(body, status=status, headers=headers)

    def _answer(self, method: str, args: Json, request: web.Request) -> tuple[Json, int, dict[str, str]]:
        if method not in METHODS or method in self._slack.faults.unknown:
            raise Refusal("unknown_method", req_method=method)
        call = self._identify(method, args, request)
        self._check_scopes(call)
        if wait := self._wait(call):
            return {"ok": False, "error": "ratelimited"}, 429, {"Retry-After": str(wait)}
        arguments.check(method, args)
        granted = {"X-OAuth-Scopes": ",".join(sorted(call.installation.scopes))} if call.installation else {}
        return {"ok": True} | METHODS[method](self._slack, call), 200, granted

    def _identify(self, method: str, args: Json, request: web.Request) -> Call:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ").strip() or args.get("token")
        args = {name: value for name, value in args.items() if name != "token"}
        if method in _NO_TOKEN:
            args |= self._client(request)
            return Call(method=method, args=args, app=next(iter(self._slack.apps.values())), installation=None)
        if not token:
            raise Refusal("not_authed")
        if method in _PERSONS_TOKEN:
            return self._by_person(method, args, token)
        app, installation = self._owner(token)
        if (installation is None) != (method in _APP_TOKEN):
            raise Refusal("not_allowed_token_type")
        if installation and installation.revoked:
            raise Refusal(installation.revoked)
        return Call(method=method, args=args, app=app, installation=installation)

    def _by_person(self, method: str, args: Json, token: str) -> Call:
        grant = self._slack.grants.whose(token)
        if grant is None:
            raise Refusal("invalid_auth")
        return Call(method=method, args=args, app=grant.app, installation=None, person=grant.person)

    @staticmethod
    def _client(request: web.Request) -> Json:
        """An app may name itself by HTTP's basic authentication, as slack_sdk does."""
        scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Basic":
            return {}
        client_id, _, secret = base64.b64decode(encoded).decode().partition(":")
        return {"client_id": client_id, "client_secret": secret}

    def _owner(self, token: str) -> tuple[App, Installation | None]:
        for app in self._slack.apps.values():
            if app.app_token == token:
                return app, None
        for installation in self._slack.installations:
            if installation.token == token:
                return installation.app, installation
        raise Refusal("invalid_auth")

    @staticmethod
    def _check_scopes(call: Call) -> None:
        """One of the scopes that the reference lists has to be there; which one, the method knows."""
        wanted = arguments.reference()[call.method]["scopes"]
        if call.installation and wanted and not call.installation.scopes.intersection(wanted):
            provided = ",".join(sorted(call.installation.scopes))
            raise Refusal("missing_scope", needed=",".join(wanted), provided=provided)

    def _wait(self, call: Call) -> int:
        who = call.app.id + (call.installation.team.id if call.installation else "")
        tier = arguments.reference()[call.method]["tier"]
        return self._slack.rate_limits.wait(method=call.method, tier=tier, who=who, channel=call.text("channel"))

    def _log(self, method: str, args: Json, result: Json, status: int) -> None:
        entry = Logged(method=method, args=args, at=self._slack.clock.now(), result=result, status=status)
        self._slack.calls.append(entry)
        self._slack.feed.notify()
