"""Files that come with a question, on their way into its conversation."""

import asyncio
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.inbox import Claim, ClaimLostError, Inbox, Item
from bot.slack.documents.files import Files
from bot.slack.documents.reading import TOO_SLOW, Reader
from bot.slack.views.attached import Unread
from bot.slack.web import Web
from crag_graph.domain import Progress, Stage
from crag_graph.embedding import Vectors
from crag_graph.knowledge.attached import Attached
from crag_graph.knowledge.fetch import Fetcher
from crag_graph.knowledge.index import prepare_index
from crag_graph.knowledge.ingest import Ingest
from crag_graph.knowledge.library import Library
from tests.fakes.letters import LetterEmbedder
from tests.slack_workspace import SlackWorkspace
from tests.slack_workspace.world import StoredFile

THREAD = "T1:C1:1.0"


class Slow(LetterEmbedder):
    async def embed(self, texts: Any) -> Vectors:
        await asyncio.sleep(30 if "slow" in texts[0] else 0)
        return await super().embed(texts)


@pytest.fixture
async def reader(engine: AsyncEngine, slack: SlackWorkspace, web: Web) -> Reader:
    embedder = Slow()
    await prepare_index(engine, model=embedder.name, dimensions=embedder.dimensions)
    ingest = Ingest(library=Library(engine, model=embedder.name), embedder=embedder, fetcher=Fetcher())
    files = Files(web, token=slack.bot_token, api_url=slack.api_url)
    return Reader(inbox=Inbox(engine), ingest=ingest, files=files, attached=Attached(engine=engine), seconds=0.3)


@pytest.fixture
async def claim(reader: Reader) -> Claim:
    item = Item(team="T1", channel="C1", ts="1.0", conversation=THREAD, person="U1", payload={"message": {}})
    await reader.inbox.receive(item)
    claimed = await reader.inbox.claim(THREAD)
    assert claimed
    return claimed


async def shared(slack: SlackWorkspace, *named: str) -> list[tuple[str, str]]:
    ann = slack.user("Ann")
    files: list[StoredFile] = [ann.file(name, f"What {name} says.".encode()) for name in named]
    await ann.says("here", in_=slack.channel("travel", members=[ann, slack.bot]), files=files)
    return [(file.id, file.name) for file in files]


async def test_each_file_is_told_before_it_is_read_and_one_that_takes_too_long_is_left(
    reader: Reader, claim: Claim, slack: SlackWorkspace
) -> None:
    told: list[Progress] = []

    async def show(progress: Progress) -> None:
        told.append(progress)

    reading = await reader.read(claim, await shared(slack, "slow.md", "quick.md"), show)
    assert told == [Stage(node="read", detail="slow.md"), Stage(node="read", detail="quick.md")]
    assert [(one.title, one.space, one.added_by, one.kept) for one in reading.read] == [
        ("quick.md", THREAD, "U1", False)
    ]
    assert reading.unread == (Unread(name="slow.md", reason=TOO_SLOW()),)


async def test_what_was_read_for_nobody_any_more_does_not_stay(
    reader: Reader, claim: Claim, slack: SlackWorkspace
) -> None:
    async def forget(_progress: Progress) -> None:
        await reader.inbox.forget(THREAD)

    with pytest.raises(ClaimLostError):
        await reader.read(claim, await shared(slack, "quick.md"), forget)
    assert await reader.attached.documents(THREAD) == ()
