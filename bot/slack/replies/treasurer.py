"""Tells the admins of a team, once a day, that its budget for models is nearly used up."""

from dataclasses import dataclass

import structlog
from sqlalchemy.exc import SQLAlchemyError

from bot.budget.budget import Budget
from bot.slack.directory import Directory
from bot.slack.web import SlackError, Web, heard
from crag_graph.phrases import Phrase, speaking

NEARLY = Phrase(
    "Four fifths of today's budget for models are used up in this workspace. When all of it is, I answer by quoting "
    "from the documents until midnight UTC. The setting `CRAG_BUDGET` says how much there is in a day."
)

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Treasurer:
    """An answer is worth more than a warning: failures are logged."""

    budget: Budget | None
    web: Web
    directory: Directory
    admins: frozenset[str]

    async def look(self, team: str) -> None:
        try:
            if self.budget is None or not await self.budget.is_to_be_told(team):
                return
            for admin in sorted(self.admins):
                with speaking(await self.directory.language(admin)):
                    await heard(self.web.patient.chat_postMessage(channel=admin, text=NEARLY()))
        except (SQLAlchemyError, SlackError) as error:
            log.warning("admins_not_warned", team=team, kind=type(error).__name__)
