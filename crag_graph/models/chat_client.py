"""A chat model behind any server that speaks OpenAI's protocol."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import openai
from langchain_core.messages import AIMessage, BaseMessage, BaseMessageChunk
from langchain_openai import ChatOpenAI

from crag_graph.chat import ChatReply, Message, Schema
from crag_graph.domain import ModelCall
from crag_graph.models.api_errors import too_long, translated
from crag_graph.models.connections import Connections
from crag_graph.models.structured import json_object, without_thoughts
from crag_graph.services import ModelReplyError, ServiceError

_OPTIONAL = {
    "response_format": ("response_format", "json_schema", "structured output", "grammar"),
    "temperature": ("temperature",),
    "stream_options": ("stream_options", "include_usage"),
}
"""Parameters that not every server knows, and the words by which a 400 names them."""


class ApiChat:
    """Implements chat.ChatModel over ChatOpenAI.

    `timeout` in seconds: the longest silence of the server. There are no retries here: the graph retries.
    A server that refuses an optional parameter is asked again at once without it, and not offered it any more.
    """

    def __init__(
        self, *, base_url: str, api_key: str, model: str, timeout: float = 30.0, temperature: float | None = 0.0
    ) -> None:
        self.name = model
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._temperature = temperature
        self._refused: set[str] = set()
        self._connections = Connections(self._chat_openai, timeout=timeout)

    async def ask(self, role: str, messages: Sequence[Message], schema: Schema) -> ChatReply:
        async def call(sent: list[Message]) -> AIMessage:
            form = self._unless_refused("response_format", _response_format(schema))
            # As an extra field, openai does not parse the reply: it would throw a cut one away with its price.
            return await self._connections.client().ainvoke(sent, extra_body=form, **self._options())

        reply = await self._reply(role, messages, call)
        return replace(reply, data=json_object(reply.text))

    async def stream(self, role: str, messages: Sequence[Message], emit: Callable[[str], None]) -> ChatReply:
        async def call(sent: list[Message]) -> BaseMessageChunk:
            answer = _Aloud(emit)
            whole: BaseMessageChunk | None = None
            options = self._options() | {"stream_usage": "stream_options" not in self._refused}
            async for chunk in self._connections.client().astream(sent, **options):
                answer.add(str(chunk.text))
                whole = chunk if whole is None else whole + chunk
            answer.end()
            if whole is None:
                raise ModelReplyError("It is empty.")
            return whole

        return await self._reply(role, messages, call)

    async def close(self) -> None:
        await self._connections.close()

    async def _reply(
        self, role: str, messages: Sequence[Message], call: Callable[[list[Message]], Awaitable[BaseMessage]]
    ) -> ChatReply:
        """The usable reply to `messages`, with what it cost; a reply that cannot be used raises with what it cost."""
        started = time.perf_counter()
        sent = _clean(messages)
        message = await self._within_the_dialect(lambda: call(sent))
        text = without_thoughts(str(message.text))
        made = self._call(role, sent, text, message, started)
        if flaw := _flaw(message, text):
            raise ModelReplyError(flaw, calls=(made,))
        return ChatReply(text=text, data=None, call=made)

    async def _within_the_dialect(self, call: Callable[[], Awaitable[BaseMessage]]) -> BaseMessage:
        """The call with every optional parameter that the server accepts: a refused one was no call of the model."""
        while True:
            try:
                with translated():
                    return await call()
            except ServiceError as error:
                refused = _refused_parameters(error.__cause__) - self._refused
                if not refused:
                    raise
                self._refused |= refused

    def _options(self) -> dict[str, Any]:
        return {} if self._temperature is None else self._unless_refused("temperature", self._temperature)

    def _unless_refused(self, name: str, value: Any) -> dict[str, Any]:
        return {} if name in self._refused else {name: value}

    def _call(self, role: str, messages: Sequence[Message], text: str, reply: BaseMessage, started: float) -> ModelCall:
        usage = getattr(reply, "usage_metadata", None) or {}
        return ModelCall(
            role=role,
            model=self.name,
            prompt_tokens=usage.get("input_tokens", 0),
            completion_tokens=usage.get("output_tokens", 0),
            milliseconds=(time.perf_counter() - started) * 1000,
            prompt="\n\n".join(f"[{speaker}]\n{content}" for speaker, content in messages),
            reply=text,
        )

    def _chat_openai(self, http: openai.DefaultAsyncHttpxClient) -> ChatOpenAI:
        async def key() -> str:  # an async key spares a second, blocking client
            return self._api_key

        return ChatOpenAI(
            model=self.name,
            base_url=self._base_url,
            api_key=key,
            http_async_client=http,
            timeout=self._timeout,
            stream_chunk_timeout=self._timeout,
            max_retries=0,
            use_responses_api=False,
        )


class _Aloud:
    """Passes a stream on as it comes, except for a `<think>` block at its beginning."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self._held: str | None = ""
        """What may still turn out to be a thought; None once the answer has begun."""

    def add(self, piece: str) -> None:
        if self._held is None:
            self._emit_if_any(piece)
            return
        self._held += piece
        beginning = self._held.lstrip()
        thinking = beginning.startswith("<think")
        if (thinking and "</think" not in beginning) or "<think"[: len(beginning)] == beginning:
            return
        self.end()

    def end(self) -> None:
        """No more pieces come, or the answer has begun."""
        held, self._held = self._held, None
        if held is not None:
            self._emit_if_any(without_thoughts(held) if held.lstrip().startswith("<think") else held)

    def _emit_if_any(self, text: str) -> None:
        if text:
            self._emit(text)


def _clean(messages: Sequence[Message]) -> list[Message]:
    """NUL and lone surrogates break servers and the encoder."""
    return [(speaker, text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")) for speaker, text in messages]


def _response_format(schema: Schema) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": schema.name, "schema": dict(schema.json), "strict": True}}


def _flaw(message: BaseMessage, text: str) -> str:
    """Why the reply cannot be used; empty where it can."""
    if message.additional_kwargs.get("refusal"):
        return "The model refused."
    finish_reason = message.response_metadata.get("finish_reason")
    if finish_reason == "length":
        return "It was cut off."
    if finish_reason == "content_filter":
        return "It was filtered."
    return "" if text else "It is empty."


def _refused_parameters(error: BaseException | None) -> set[str]:
    """The optional parameters that the server's 400 or 422 complains about."""
    if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError) or too_long(error.message):
        return set()
    complaint = f"{error.param or ''} {error.message}".lower()
    return {name for name, words in _OPTIONAL.items() if any(word in complaint for word in words)}
