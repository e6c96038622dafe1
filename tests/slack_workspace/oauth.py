"""The pages where a person allows an app into a team, or signs in; this Slack's people always say yes."""

from urllib.parse import urlencode

from aiohttp import web

from tests.slack_workspace.grants import Grant
from tests.slack_workspace.installation import App
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import SLACKBOT


class OAuthPages:
    def __init__(self, slack: Platform) -> None:
        self._slack = slack

    async def authorize(self, request: web.Request) -> web.Response:
        """Send the person back with a code; the team is that of who sits at the browser, `team` in the query, or the first."""
        query = request.query
        app, at_browser = self._app(request), self._slack.at_the_browser
        team = self._slack.world.teams.get(query.get("team", "")) or next(iter(self._slack.world.teams.values()))
        if app is None or not query.get("redirect_uri"):
            return web.Response(status=400, text="Invalid client_id or redirect_uri")
        if unknown := set(filter(None, query.get("scope", "").split(","))) - app.manifest.scopes:
            return web.Response(status=400, text=f"Invalid permissions requested: {', '.join(sorted(unknown))}")
        people = [a for a in self._slack.world.people_of(team) if not a.is_bot and a.id != SLACKBOT]
        if not people:
            return web.Response(status=400, text="Nobody is in this team")
        person = at_browser or people[0]
        team = at_browser.team if at_browser else team
        grant = Grant(app=app, team=team, person=person, redirect_uri=query["redirect_uri"])
        raise self._back(request, code=self._slack.grants.allow(grant))

    async def sign_in(self, request: web.Request) -> web.Response:
        """“Sign in with Slack”: as the person who sits at the browser; nobody there says no."""
        query, app, person = request.query, self._app(request), self._slack.at_the_browser
        is_openid = query.get("response_type") == "code" and "openid" in query.get("scope", "").split()
        if app is None or not query.get("redirect_uri") or not is_openid:
            return web.Response(status=400, text="Invalid client_id, redirect_uri, response_type or scope")
        if person is None:
            raise self._back(request, error="access_denied")
        grant = Grant(
            app=app,
            team=person.team,
            person=person,
            redirect_uri=query["redirect_uri"],
            nonce=query.get("nonce", ""),
        )
        raise self._back(request, code=self._slack.grants.allow(grant))

    def _app(self, request: web.Request) -> App | None:
        client = request.query.get("client_id")
        return next((app for app in self._slack.apps.values() if app.client_id == client), None)

    @staticmethod
    def _back(request: web.Request, **answer: str) -> web.HTTPFound:
        query = urlencode(answer | {"state": request.query.get("state", "")})
        return web.HTTPFound(f"{request.query['redirect_uri']}?{query}")
