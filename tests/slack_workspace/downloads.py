"""Slack's file host: bytes for who brings the app's token, the login page for everybody else."""

from aiohttp import web

from tests.slack_workspace.installation import Installation
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.spoiling import spoil

LOGIN_PAGE = """<!DOCTYPE html>
<html><head><title>Sign in | Slack</title></head>
<body><h1>Sign in to your workspace</h1><form action="/signin"><input name="email"></form></body></html>
"""


class Downloads:
    def __init__(self, slack: Platform) -> None:
        self._slack = slack

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """The file, or (200, as Slack does) an HTML page that asks to sign in."""
        fault = self._slack.faults.strike("file_download")
        if fault and (spoiled := await spoil(fault, request)):
            return spoiled
        stored = self._slack.world.files.get(request.match_info["file"].partition("-")[2])
        caller = self._caller(request)
        if caller is None or "files:read" not in caller.scopes:
            return web.Response(text=LOGIN_PAGE, content_type="text/html")
        if stored is None or stored.deleted or stored.team is not caller.team:
            return web.Response(status=404, text=LOGIN_PAGE, content_type="text/html")
        if stored.moved_to:
            raise web.HTTPFound(stored.moved_to)
        return web.Response(body=stored.content, content_type=stored.mimetype.partition(";")[0])

    async def take(self, request: web.Request) -> web.Response:
        content = await request.read()
        if request.content_type == "multipart/form-data":
            return web.Response(status=400, text="Send the bytes as they are.")
        if not self._slack.uploads.receive(request.match_info["key"], content):
            return web.Response(status=400, text="Not the length that was announced.")
        return web.Response(text=f"OK - {len(content)}")

    def _caller(self, request: web.Request) -> Installation | None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return next((i for i in self._slack.installations if i.token == token and not i.revoked), None)
