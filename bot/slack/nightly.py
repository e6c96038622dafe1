"""What the bot does at night of its own accord: tries again what it could not answer, and asks experts what still holds."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, replace

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.again import question_again
from bot.answering import Answered, AnswerFailedError, Answering, QuestionError
from bot.experts.answers import ExpertAnswer, Experts
from bot.slack.access import Access, access, still_there
from bot.slack.replies.asides import ask_whether_still_right, tell_answer
from bot.slack.teams import Team, Teams
from bot.slack.web import SlackError, SlackRefusedError
from bot.traces import gaps
from bot.traces.reading import Row
from bot.traces.wishes import drop_wish, fulfilled, take_wish, teams_that_wait
from crag_graph.domain import Progress
from crag_graph.embedding import Embedder
from crag_graph.knowledge.demotions import Demotions
from crag_graph.phrases import speak
from crag_graph.services import ServiceError

AT_A_TIME = 500
"""New questions of a team that are grouped in one night."""

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Nightly:
    """What fails for one question or one person is tried the next night, and stops nobody else's."""

    teams: Teams
    engine: AsyncEngine
    answering: Answering
    embedder: Embedder
    experts: Experts

    async def run(self) -> None:
        for team in await teams_that_wait(self.engine):
            await _tried(gaps.group(self.engine, self.embedder, team=team, limit=AT_A_TIME))
        for gap in await gaps.mended(self.engine):
            for run in await gaps.to_ask_again(self.engine, gap):
                await _tried(self._ask_again(gap, run))
        await _tried(Demotions(engine=self.engine, embedder=self.embedder).renew())
        for answer in await self.experts.due():
            await _tried(self._remind(answer))

    async def _ask_again(self, gap: int, run: Row) -> None:
        """With what the asker may see today where the question was asked, and from the library alone."""
        team = await self.teams.of(run["team"])
        allowed = await _access_today(team, run) if team else None
        if team is None or allowed is None:
            return
        question = replace(await question_again(self.engine, run), spaces=allowed.spaces, web_wanted=False)
        speak(await team.directory.language(run["asker"], run["question"]))
        answered = await self.answering.answer(question, _quietly)
        if answered.answer.abstained:
            return
        if await gaps.fix(self.engine, gap):
            log.info("gap_fixed", gap=gap, team=run["team"])
        if run["waits"]:
            await self._tell(team, run, answered)

    async def _tell(self, team: Team, run: Row, answered: Answered) -> None:
        """Whoever is killed in between finds the message that was sent before sending it again."""
        wish = await take_wish(self.engine, run["id"])
        if wish is None:
            return
        try:
            await tell_answer(team.web, team.me, wish, run, answered)
        except SlackRefusedError as refused:
            log.info("asker_not_told", code=refused.code)
            await drop_wish(self.engine, run["id"])
            return
        await fulfilled(self.engine, run["id"])

    async def _remind(self, answer: ExpertAnswer) -> None:
        """The author is asked, or where Slack does not reach the author, the admins."""
        team = await self.teams.of(answer.team)
        if team is None:
            return
        if not await _asked(team, answer.author, answer):
            for admin in sorted(team.shelf.admins):
                await _asked(team, admin, answer)
        await self.experts.reminded(answer.document)


async def _access_today(team: Team, run: Row) -> Access | None:
    """None where the asker may not read any more what is said in the place."""
    place, person, channels, settings = await asyncio.gather(
        team.directory.place(run["channel"]),
        team.directory.person(run["asker"]),
        team.directory.channels_of(run["asker"]),
        team.shelf.channels.of(run["team"], run["channel"]),
    )
    if not still_there(team=team.me.team, place=place, person=person, channels=channels):
        return None
    return access(me=team.me, place=place, person=person, channels=channels, workspace=settings.workspace)


async def _asked(team: Team, person: str, answer: ExpertAnswer) -> bool:
    """False where Slack does not reach the person, or nobody knows any more who it was."""
    try:
        if person:
            speak(await team.directory.language(person))
            await ask_whether_still_right(team.web, person, answer)
    except SlackRefusedError as refused:
        log.info("expert_not_asked", code=refused.code)
        return False
    return bool(person)


async def _tried(work: Awaitable[object]) -> None:
    try:
        await work
    except (SlackError, AnswerFailedError, QuestionError, ServiceError) as error:
        log.warning("not_done_tonight", kind=type(error).__name__, reason=str(error))


async def _quietly(_progress: Progress) -> None:
    """Nobody waits at night."""
