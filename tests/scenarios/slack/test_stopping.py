"""Stop ends a model call that hangs: the server sees its connection closed within a second, and the person is told."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from crag_graph.models.chat_api import ApiWriter
from crag_graph.models.chat_client import ApiChat
from tests.scenarios.slack.bot import Options, Stage, scripted
from tests.slack_workspace import Message

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
WORD = b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'
EVERY = 0.1
"""Seconds between two words of a model that writes for ever."""


@dataclass(kw_only=True)
class HangingModel:
    """A model's server that takes a question and does not come to an end. `says`: what it begins with."""

    says: bytes = b""
    for_ever: bytes = b""
    address: str = ""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Whoever asked has closed the connection."""
    open: int = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator["HangingModel"]:
        server = await asyncio.start_server(self._hang, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()[:2]
        self.address = f"http://{host}:{port}/v1"
        try:
            yield self
        finally:
            server.close()

    async def _hang(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self.says)
        self.asked.set()
        saying = asyncio.create_task(self._say(writer))
        try:
            while await reader.read(65_536):  # the body; then nothing, until the other side is gone
                pass
        except ConnectionError:
            pass
        finally:
            saying.cancel()
            self.open -= 1
            self.left.set()
            writer.close()

    async def _say(self, writer: asyncio.StreamWriter) -> None:
        while self.for_ever:
            writer.write(b"%x\r\n%b\r\n" % (len(self.for_ever), self.for_ever))
            await asyncio.sleep(EVERY)


MODELS = {
    "never answers": HangingModel(),
    "begins to answer": HangingModel(says=HEAD),
    "writes for ever": HangingModel(says=HEAD, for_ever=WORD),
}


@asynccontextmanager
async def hanging(stage: Stage, model: HangingModel, *, http: bool = True) -> AsyncIterator[HangingModel]:
    """The bot writes with this model, by the client that it has in production."""
    async with model.running():
        chat = ApiChat(base_url=model.address, api_key="key", model="m", timeout=60.0)
        async with stage.bot(scripted(writer=ApiWriter(chat)), Options(http=http, deadline=120.0)):
            yield model


async def assert_left_soon(model: HangingModel, pressed: float) -> None:
    await asyncio.wait_for(model.left.wait(), 5)
    assert time.monotonic() - pressed < 1.0
    assert model.open == 0


@pytest.mark.parametrize("how", MODELS)
async def test_stop_closes_the_connection_to_a_model_that_hangs_and_says_so(stage: Stage, how: str) -> None:
    kind = MODELS[how]
    async with hanging(stage, HangingModel(says=kind.says, for_ever=kind.for_ever)) as model:
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        await asyncio.wait_for(model.asked.wait(), 10)
        streamed = await stage.slack.until(lambda: next(iter(stage.slack.replies(question)), None))
        await stage.slack.until(lambda: "word" in streamed.screen or not kind.for_ever)
        pressed = time.monotonic()
        await stage.ada.stops(question)
        await assert_left_soon(model, pressed)
        reply = await stage.slack.reply_to(question, saying="Stopped.")
        assert only(stage, question) is not None
        assert reply.ts == streamed.ts
        await stage.slack.until(lambda: stage.slack.session(question).state == "active")


def only(stage: Stage, question: Message) -> Message:
    (reply,) = stage.slack.replies(question)
    return reply


async def test_the_stop_button_of_a_private_answer_closes_the_connection_too(stage: Stage) -> None:
    async with hanging(stage, HangingModel(), http=False) as model:
        sign = await stage.ada.runs("/crag-ask How many weeks?", in_=stage.travel)
        await asyncio.wait_for(model.asked.wait(), 10)
        pressed = time.monotonic()
        await stage.ada.clicks("Stop", on=sign)
        await assert_left_soon(model, pressed)
        await stage.ada.is_shown("Stopped.", in_=stage.travel)


async def test_a_deleted_question_closes_the_connection_too(stage: Stage) -> None:
    async with hanging(stage, HangingModel()) as model:
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        await asyncio.wait_for(model.asked.wait(), 10)
        pressed = time.monotonic()
        await stage.ada.deletes(question)
        await assert_left_soon(model, pressed)
        await stage.slack.until(lambda: all(one.is_deleted for one in stage.slack.replies(question)))
