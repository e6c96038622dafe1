"""On the wire of a real server: schemas, streams and errors. The model is too weak to assert on what it says."""

from collections.abc import Awaitable
from datetime import date
from typing import TypeVar

import pytest

from crag_graph.chat import Message, object_schema
from crag_graph.domain import Conversation, Turn
from crag_graph.evaluators.llm import LlmEvaluator
from crag_graph.models.chat_api import ApiWriter
from crag_graph.models.chat_client import ApiChat
from crag_graph.services import ModelBusyError, ModelRejectedError, ModelReplyError
from tests.fakes.services import passage

pytestmark = [pytest.mark.llm, pytest.mark.timeout(900)]

T = TypeVar("T")

ASK: list[Message] = [("system", "You answer in JSON."), ("user", "What colour is the sky by day?")]
COLOUR = object_schema("colour", colour={"type": "string", "enum": ["red", "blue", "green"]})


async def test_the_server_holds_the_model_to_the_schema(llama: ApiChat) -> None:
    reply = await llama.ask("rewrite", ASK, COLOUR)
    assert reply.data is not None
    assert reply.data["colour"] in ("red", "blue", "green")
    assert reply.call.prompt_tokens > 0
    assert reply.call.completion_tokens > 0


async def test_an_answer_streams_and_its_tokens_are_counted(llama: ApiChat) -> None:
    pieces: list[str] = []
    try:
        reply = await llama.stream("generate", [("user", "Say hello and nothing else.")], pieces.append)
    except ModelReplyError as error:  # it may talk until it is cut off
        call = error.calls[0]
    else:
        assert reply.text == "".join(pieces).strip()
        call = reply.call
    assert len(pieces) > 1
    assert call.completion_tokens >= len(pieces)


async def test_every_role_gets_something_usable_or_says_that_it_did_not(llama: ApiChat) -> None:
    writer, evaluator = ApiWriter(llama), LlmEvaluator(llama)
    turn = Turn(
        question="How long is parental leave?", standalone="How long is parental leave?", answer="60", sources=[]
    )
    talk, today = Conversation(turns=(turn,)), date(2026, 11, 30)
    passages = [passage("Parental leave is 60 days."), passage("Cats purr.")]
    standalone = await _outcome(writer.contextualize("And for adoption?", talk, overflow=(), today=today))
    query = await _outcome(writer.rewrite("What were the key updates in AI news last month?", talk, today=today))
    evaluation = await _outcome(evaluator.evaluate("How long is parental leave?", passages))
    assert standalone is None or standalone.question
    assert query is None or 0 < len(query.query) <= 400
    assert evaluation is None or [0 <= score.value <= 1 for score in evaluation.scores] == [True, True]


async def _outcome(attempt: Awaitable[T]) -> T | None:
    """None where the reply could not be used: then the graph takes the local twin."""
    try:
        return await attempt
    except ModelReplyError:
        return None


async def test_a_wrong_key_is_rejected(llama_url: str) -> None:
    chat = ApiChat(base_url=llama_url, api_key="sk-wrong", model="smollm2")
    with pytest.raises(ModelRejectedError, match="key"):
        await chat.ask("rewrite", ASK, COLOUR)
    await chat.close()


async def test_a_prompt_beyond_the_window_is_rejected_as_too_long(llama: ApiChat) -> None:
    with pytest.raises(ModelRejectedError, match="too long"):
        await llama.stream("generate", [("user", "word " * 4000)], lambda _: None)


async def test_a_server_that_is_slower_than_the_timeout_is_busy(llama_url: str) -> None:
    chat = ApiChat(base_url=llama_url, api_key="sk-llama", model="smollm2", timeout=0.05)
    with pytest.raises(ModelBusyError):
        await chat.ask("rewrite", [("user", "word " * 1500)], COLOUR)
    await chat.close()
