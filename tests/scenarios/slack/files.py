"""Questions with files, for scenarios."""

import asyncio
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.knowledge.attached import Attached
from crag_graph.knowledge.search import HybridSearch
from crag_graph.services import Services
from tests.fakes.services import ScriptedEvaluator, ScriptedWeb, page
from tests.scenarios.slack.bot import Bot, LetterEmbedder, Stage, scripted
from tests.slack_workspace import Message, Person
from tests.slack_workspace.world import Conversation, StoredFile

OFFER = b"# Offer\n\nThe train to Oslo costs 310 euros. It leaves at nine.\n"
RULES = "/crag-ingest text Rules\nPlanes need a reason. The hotel costs 90 euros."
KEEP = "Keep in the library"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question with files, and what was answered."""

    question: Message
    reply: Message


def reading_services(engine: AsyncEngine, **parts: Any) -> Services:
    """With the real library; a passage that speaks of euros answers, one that speaks of trams does in part."""
    plain: dict[str, Any] = {
        "library": HybridSearch(engine, LetterEmbedder()),
        "evaluator": ScriptedEvaluator(scores={"euros": 0.9, "trams": 0.5}, keep=["euros", "trams"]),
        "web": ScriptedWeb(pages=[page("On the web it costs 280 euros.", title="Trains")]),
    }
    return scripted(**{**plain, **parts})


async def asks(
    stage: Stage,
    text: str,
    *files: StoredFile,
    in_: Conversation | Message | None = None,
    by: Person | None = None,
) -> Asked:
    question = await (by or stage.ada).says(text, in_=in_ or stage.travel, files=files)
    reply = await stage.slack.reply_to(question, until=lambda one: "Stop" not in one.buttons)
    return Asked(question=question, reply=reply)


def offer(stage: Stage, name: str = "offer.md", content: bytes = OFFER, *, by: Person | None = None) -> StoredFile:
    return (by or stage.ada).file(name, content)


async def names_in(bot: Bot, question: Message) -> list[str]:
    """What came with the question's conversation and is still there."""
    conversation = f"{question.channel.team.id}:{question.channel.id}:{question.root}"
    return [document.title for document in await Attached(engine=bot.engine).documents(conversation)]


async def until_there_is(bot: Bot, question: Message, *names: str) -> None:
    async with asyncio.timeout(10):
        while await names_in(bot, question) != list(names):  # noqa: ASYNC110 - the database has no event for it
            await asyncio.sleep(0.05)
