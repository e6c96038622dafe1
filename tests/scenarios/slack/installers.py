"""Two teams at Slack, and people who install the app in them with their browser."""

import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import httpx

from tests.scenarios.slack.bot import Bot, Stage
from tests.slack_workspace import Person
from tests.slack_workspace.admin import Admin
from tests.slack_workspace.installation import Installation
from tests.slack_workspace.world import Conversation


@dataclass(frozen=True, kw_only=True)
class Abroad:
    """Another team, with Eve in its #globex."""

    eve: Person
    place: Conversation
    admin: Admin
    installation: Installation


def abroad(stage: Stage) -> Abroad:
    installed = stage.slack.other_team("Globex")
    eve = stage.slack.user("Eve", team=installed.team)
    place = stage.slack.channel("globex", members=[eve, installed.bot], team=installed.team)
    return Abroad(eve=eve, place=place, admin=Admin(stage.slack.platform, installed), installation=installed)


class Installer:
    """A browser on the way to Slack and back; it keeps the one cookie, as over https."""

    def __init__(self, bot: Bot) -> None:
        self._address = bot.address
        self._cookie = ""

    async def begins(self) -> str:
        """Opens our page; the address at Slack that its button leads to."""
        page = await self.opens("/slack/install")
        self._cookie = page.headers["set-cookie"].partition(";")[0]
        found = re.search(r'href="([^"]+)"', page.text)
        assert found
        return unescape(found[1])

    async def allows(self, at_slack: str) -> str:
        """Says yes at Slack; where Slack sends the browser back to."""
        async with httpx.AsyncClient() as client:
            answer = await client.get(at_slack)
        assert answer.status_code == 302, answer.text
        return answer.headers["location"]

    async def opens(self, path: str) -> httpx.Response:
        address = path if path.startswith("http") else f"{self._address}{path}"
        async with httpx.AsyncClient(headers={"cookie": self._cookie} if self._cookie else {}) as client:
            return await client.get(address)

    async def installs(self) -> httpx.Response:
        return await self.opens(await self.allows(await self.begins()))


async def install(stage: Stage, bot: Bot, person: Person) -> httpx.Response:
    """The person installs the app in her team."""
    stage.slack.at_the_browser(person)
    return await Installer(bot).installs()


def query_of(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))
