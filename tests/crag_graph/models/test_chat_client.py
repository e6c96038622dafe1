import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from crag_graph.chat import Message, object_schema
from crag_graph.models.chat_client import ApiChat
from crag_graph.services import ModelBusyError, ModelRejectedError, ModelReplyError
from tests.fakes.openai_server import (
    KEY,
    OVERFLOW,
    RATE_LIMITED,
    SERVER_ERROR,
    Drop,
    Fail,
    Handler,
    Hang,
    OpenAIServer,
    Raw,
    Refuse,
    Reply,
    Say,
    openai_server,
)

HELLO: list[Message] = [("system", "Be brief."), ("user", "Hello?")]
COLOUR = object_schema("colour", colour={"type": "string"})


def nowhere(_: str) -> None:
    pass


@asynccontextmanager
async def chat_with(
    reply: Handler | Reply | str | dict[str, Any], *, key: str = KEY, model: str = "local-chat", **options: Any
) -> AsyncIterator[tuple[ApiChat, OpenAIServer]]:
    async with openai_server(reply, **options) as server:
        chat = ApiChat(base_url=server.base_url, api_key=key, model=model, timeout=0.3)
        try:
            yield chat, server
        finally:
            await chat.close()


async def test_a_structured_reply_comes_back_as_data_with_its_price() -> None:
    async with chat_with({"colour": "blue"}) as (chat, server):
        reply = await chat.ask("rewrite", HELLO, COLOUR)
    assert reply.data == {"colour": "blue"}
    assert (reply.call.role, reply.call.model) == ("rewrite", "local-chat")
    assert reply.call.prompt_tokens > 0
    assert reply.call.completion_tokens > 0
    assert reply.call.milliseconds > 0
    assert "Be brief." in reply.call.prompt
    assert server.chats[0].schema_name == "colour"
    assert server.chats[0].body["response_format"]["json_schema"]["strict"] is True


async def test_a_stream_is_passed_on_piece_by_piece_and_its_tokens_are_counted() -> None:
    pieces: list[str] = []
    async with chat_with("The sky is blue [1].") as (chat, _):
        reply = await chat.stream("generate", HELLO, pieces.append)
    assert "".join(pieces) == reply.text == "The sky is blue [1]."
    assert len(pieces) > 2
    assert reply.call.prompt_tokens > 0
    assert reply.call.completion_tokens > 0


@pytest.mark.parametrize(
    ("reply", "data"),
    [
        ('```json\n{"colour": "blue"}\n```', {"colour": "blue"}),
        ('Sure! Here it is: {"colour": "blue"} Anything else?', {"colour": "blue"}),
        ('<think>{"colour": "red"}? No.</think>{"colour": "blue"}', {"colour": "blue"}),
        ('{"colour": "light\nblue"}', {"colour": "light\nblue"}),
        ("{{{{ {} blue", {}),
        ("blue", None),
        ('["blue"]', None),
        ('{"colour": "bl', None),
    ],
)
async def test_an_object_is_found_however_the_model_dresses_it(reply: str, data: object) -> None:
    async with chat_with(reply) as (chat, _):
        assert (await chat.ask("rewrite", HELLO, COLOUR)).data == data


async def test_thoughts_of_a_reasoning_model_are_not_shown() -> None:
    pieces: list[str] = []
    async with chat_with("<think>Is it blue or grey?</think>\n\nBlue [1].") as (chat, _):
        reply = await chat.stream("generate", HELLO, pieces.append)
    assert "".join(pieces).strip() == reply.text == "Blue [1]."


async def test_text_that_only_begins_like_a_thought_is_shown() -> None:
    pieces: list[str] = []
    async with chat_with("<thin> is a tag [1].") as (chat, _):
        await chat.stream("generate", HELLO, pieces.append)
    assert "".join(pieces) == "<thin> is a tag [1]."


Call = Callable[[ApiChat], Any]
CALLS: list[Call] = [
    lambda chat: chat.ask("rewrite", HELLO, COLOUR),
    lambda chat: chat.stream("generate", HELLO, nowhere),
]
both_ways = pytest.mark.parametrize("call", CALLS, ids=["ask", "stream"])


@both_ways
@pytest.mark.parametrize(
    "reply",
    [
        RATE_LIMITED,
        SERVER_ERROR,
        Fail(status=503),
        Fail(status=529),
        Fail(status=408),
        Hang(),
        Drop(),
        Drop(text="a b c"),
    ],
    ids=["429", "500", "503", "overloaded", "408", "hang", "drop", "drop mid-stream"],
)
async def test_a_server_in_trouble_is_busy(call: Call, reply: Reply) -> None:
    async with chat_with(reply) as (chat, server):
        with pytest.raises(ModelBusyError):
            await call(chat)
    assert len(server.chats) == 1


async def test_a_stream_that_stalls_is_busy() -> None:
    async with chat_with(Hang(text="The sky is")) as (chat, _):
        with pytest.raises(ModelBusyError):
            await chat.stream("generate", HELLO, nowhere)


@both_ways
async def test_a_server_that_is_away_is_busy(call: Call) -> None:
    async with chat_with("Hello.") as (chat, _):
        pass
    with pytest.raises(ModelBusyError, match="connection"):
        await call(chat)
    await chat.close()


@both_ways
async def test_a_wrong_key_is_rejected_without_showing_it(call: Call) -> None:
    async with chat_with("Hello.", key="sk-my-secret") as (chat, _):
        with pytest.raises(ModelRejectedError, match="key") as raised:
            await call(chat)
    assert "sk-my" not in str(raised.value)


@both_ways
async def test_an_unknown_model_is_rejected_by_name(call: Call) -> None:
    async with chat_with("Hello.", model="gpt-99") as (chat, _):
        with pytest.raises(ModelRejectedError, match="gpt-99"):
            await call(chat)


@both_ways
@pytest.mark.parametrize(
    "message",
    [
        OVERFLOW.message,
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens.",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
async def test_a_prompt_that_does_not_fit_is_rejected_as_too_long(call: Call, message: str) -> None:
    async with chat_with(Fail(status=400, message=message)) as (chat, server):
        with pytest.raises(ModelRejectedError, match="too long"):
            await call(chat)
    assert len(server.chats) == 1


@both_ways
async def test_a_used_up_quota_is_not_worth_another_try(call: Call) -> None:
    async with chat_with(Fail(status=429, message="You exceeded your quota.", code="insufficient_quota")) as (chat, _):
        with pytest.raises(ModelRejectedError, match="quota"):
            await call(chat)


@both_ways
@pytest.mark.parametrize(
    "reply",
    [
        Refuse(),
        Say(text='{"colour": "bl', finish_reason="length"),
        Say(text="", finish_reason="content_filter"),
        Say(text=""),
        Say(text=" \n"),
        Say(text="<think>on and on"),
    ],
    ids=["refusal", "cut", "filtered", "empty", "blank", "thoughts only"],
)
async def test_a_reply_that_cannot_be_used_says_so(call: Call, reply: Reply) -> None:
    async with chat_with(reply) as (chat, _):
        with pytest.raises(ModelReplyError):
            await call(chat)


async def test_a_reply_that_cannot_be_used_has_its_price_too() -> None:
    async with chat_with(Refuse()) as (chat, _):
        with pytest.raises(ModelReplyError, match="refused") as raised:
            await chat.ask("rewrite", HELLO, COLOUR)
    assert raised.value.calls[0].prompt_tokens > 0


@both_ways
@pytest.mark.parametrize(
    "reply",
    [Raw(body="<!doctype html><title>Sign in</title>", content_type="text/html"), Raw(body="{}"), Raw(body='{"a": 1')],
    ids=["login page", "empty object", "broken"],
)
async def test_a_body_that_is_no_completion_is_an_unusable_reply(call: Call, reply: Reply) -> None:
    async with chat_with(reply) as (chat, _):
        with pytest.raises(ModelReplyError):
            await call(chat)


async def test_a_server_without_schemas_is_asked_without_and_this_is_remembered() -> None:
    async with chat_with('{"colour": "blue"}', refused=["response_format"]) as (chat, server):
        for _ in range(3):
            assert (await chat.ask("rewrite", HELLO, COLOUR)).data == {"colour": "blue"}
    assert len(server.chats) == 4


async def test_a_model_that_knows_neither_temperature_nor_stream_options_still_streams() -> None:
    async with chat_with("Blue [1].", refused=["temperature", "stream_options"]) as (chat, server):
        reply = await chat.stream("generate", HELLO, nowhere)
        await chat.stream("generate", HELLO, nowhere)
    assert reply.text == "Blue [1]."
    assert len(server.chats) == 4


async def test_nul_and_lone_surrogates_do_not_break_the_request() -> None:
    async with chat_with("Hello.") as (chat, server):
        await chat.stream("generate", [("user", "a\0b \ud800 c")], nowhere)
    assert server.chats[0].last == "ab ? c"


async def test_many_questions_in_a_row_and_at_once_over_kept_alive_connections() -> None:
    async with chat_with("Hello.") as (chat, server):
        for _ in range(24):
            await chat.stream("generate", HELLO, nowhere)
        await asyncio.gather(*(chat.ask("rewrite", HELLO, COLOUR) for _ in range(24)))
    assert len(server.chats) == 48


async def test_each_event_loop_has_its_own_connection() -> None:
    async with chat_with("Hello.") as (chat, server):

        async def ask_twice() -> None:
            await chat.stream("generate", HELLO, nowhere)
            await chat.stream("generate", HELLO, nowhere)
            await chat.close()

        await ask_twice()
        await asyncio.to_thread(asyncio.run, ask_twice())
        await ask_twice()
    assert len(server.chats) == 6
