"""The page where a person allows an app into a team; this Slack's people always say yes."""

from urllib.parse import urlencode

from aiohttp import web

from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import SLACKBOT


class OAuthPages:
    def __init__(self, slack: Platform) -> None:
        self._slack = slack

    async def authorize(self, request: web.Request) -> web.Response:
        """Send the person back with a code; the team is `team` in the query, or the first one."""
        query = request.query
        app = next((a for a in self._slack.apps.values() if a.client_id == query.get("client_id")), None)
        team = self._slack.world.teams.get(query.get("team", "")) or next(iter(self._slack.world.teams.values()))
        if app is None or not query.get("redirect_uri"):
            return web.Response(status=400, text="Invalid client_id or redirect_uri")
        people = [a for a in self._slack.world.people_of(team) if not a.is_bot and a.id != SLACKBOT]
        if not people:
            return web.Response(status=400, text="Nobody is in this team")
        code = self._slack.grants.allow(app, team, people[0])
        back = urlencode({"code": code, "state": query.get("state", "")})
        raise web.HTTPFound(f"{query['redirect_uri']}?{back}")
