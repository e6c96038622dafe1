"""A local model server that speaks the OpenAI-compatible protocol and does what a test scripts."""

import asyncio
import base64
import hashlib
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from aiohttp import web

CHAT_MODEL = "local-chat"
EMBEDDING_MODEL = "local-embed"
KEY = "sk-local"


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One request for a chat completion, as it came over the wire."""

    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def text(self) -> str:
        """All messages, one after the other."""
        return "\n\n".join(_content(message) for message in self.messages)

    @property
    def last(self) -> str:
        """The last message."""
        return _content(self.messages[-1])

    @property
    def schema_name(self) -> str | None:
        """The name of the schema that the reply must have; None where prose was asked for."""
        if tools := self.body.get("tools"):
            return str(tools[0]["function"]["name"])
        response_format = self.body.get("response_format") or {}
        name = response_format.get("json_schema", {}).get("name")
        return None if name is None else str(name)

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))


@dataclass(frozen=True, kw_only=True)
class Say:
    """An ordinary reply. `finish_reason` "length" makes it cut, "content_filter" stopped by the provider."""

    text: str
    finish_reason: str = "stop"


@dataclass(frozen=True, kw_only=True)
class Refuse:
    """A refusal, in the field that the protocol has for it."""

    text: str = "I'm sorry, I can't help with that."


@dataclass(frozen=True, kw_only=True)
class Fail:
    """An HTTP error with the body that OpenAI sends."""

    status: int
    message: str = "The server had an error."
    code: str | None = None
    param: str | None = None
    retry_after: str | None = None


@dataclass(frozen=True, kw_only=True)
class Hang:
    """No reply, ever; after `text`, when that was streamed first."""

    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Drop:
    """The connection breaks after this text was streamed."""

    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Raw:
    """HTTP 200 with a body that is not what the protocol says."""

    body: str
    content_type: str = "application/json"


Reply = Say | Refuse | Fail | Hang | Drop | Raw
Handler = Callable[[ChatRequest], Reply | str | dict[str, Any]]
"""What a chat request gets: a reply, a text, or an object that is sent as JSON."""

RATE_LIMITED = Fail(status=429, message="Rate limit reached.", code="rate_limit_exceeded", retry_after="1")
SERVER_ERROR = Fail(status=500)
OVERFLOW = Fail(status=400, message="the request exceeds the available context size, try increasing it")
"""As llama.cpp words it: a plain 400 without a code."""


def script(*replies: Reply | str | dict[str, Any]) -> Handler:
    """One reply after the other; the last one for ever."""
    waiting = list(replies)

    def reply(_: ChatRequest) -> Reply | str | dict[str, Any]:
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    return reply


@dataclass(kw_only=True)
class OpenAIServer:
    """Serves `/v1/chat/completions`, `/v1/embeddings` and `/v1/models`; `chats` and `embeds` record what came.

    `latency` is the time in seconds that every chat reply takes, `embed_latency` the same for embeddings.
    `refused` names request parameters that this server does not know: they get a 400 that says so.
    """

    reply: Handler
    key: str | None = KEY
    chat_models: Sequence[str] = (CHAT_MODEL,)
    embedding_models: Sequence[str] = (EMBEDDING_MODEL,)
    dimensions: int = 256
    latency: float = 0.0
    embed_latency: float = 0.0
    refused: Sequence[str] = ()
    embed_failure: Fail | Raw | None = None
    max_batch: int = 2048
    base_url: str = ""
    chats: list[ChatRequest] = field(default_factory=list)
    embeds: list[dict[str, Any]] = field(default_factory=list)

    @asynccontextmanager
    async def running(self) -> "AsyncIterator[OpenAIServer]":
        app = web.Application(client_max_size=64 * 2**20, middlewares=[self._check_key])
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embed)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/v1/models/{model}", self._model)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}/v1"
        try:
            yield self
        finally:
            await runner.cleanup()

    @web.middleware
    async def _check_key(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _error(Fail(status=401, message="Incorrect API key provided.", code="invalid_api_key"))
        return await handler(request)

    async def _chat(self, http: web.Request) -> web.StreamResponse:
        request = ChatRequest(body=await http.json())
        self.chats.append(request)
        if failure := self._refusal_of(request.body, self.chat_models):
            return _error(failure)
        reply = _as_reply(self.reply(request))
        await asyncio.sleep(self.latency)
        match reply:
            case Fail():
                return _error(reply)
            case Raw():
                return web.Response(text=reply.body, content_type=reply.content_type)
            case _ if request.streamed:
                return await _stream(http, request, reply)
            case Say() | Refuse():
                return web.json_response(_completion(request, reply))
            case Hang() | Drop():
                return await _go_silent(http, reply)

    async def _embed(self, http: web.Request) -> web.Response:
        body = await http.json()
        self.embeds.append(body)
        await asyncio.sleep(self.embed_latency)
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        failure = self.embed_failure or self._refusal_of(body, self.embedding_models) or self._bad_input(texts)
        if isinstance(failure, Raw):
            return web.Response(text=failure.body, content_type=failure.content_type)
        if failure:
            return _error(failure)
        vectors = [embed(text, int(body.get("dimensions", self.dimensions))) for text in texts]
        data = [
            {"object": "embedding", "index": index, "embedding": _encoded(vector, body.get("encoding_format"))}
            for index, vector in enumerate(vectors)
        ]
        tokens = sum(count_tokens(text) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return web.json_response({"object": "list", "data": data, "model": body["model"], "usage": usage})

    async def _models(self, _: web.Request) -> web.Response:
        data = [_model_card(name) for name in (*self.chat_models, *self.embedding_models)]
        return web.json_response({"object": "list", "data": data})

    async def _model(self, http: web.Request) -> web.Response:
        name = http.match_info["model"]
        if name not in (*self.chat_models, *self.embedding_models):
            return _error(_unknown(name))
        return web.json_response(_model_card(name))

    def _refusal_of(self, body: dict[str, Any], models: Sequence[str]) -> Fail | None:
        if body["model"] not in models:
            return _unknown(body["model"])
        for name in self.refused:
            if name in body:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                return Fail(status=400, message=message, param=name, code="unsupported_parameter")
        return None

    def _bad_input(self, texts: Sequence[Any]) -> Fail | None:
        if len(texts) > self.max_batch:
            return Fail(status=400, message=f"'$.input' is too long: at most {self.max_batch} items.")
        if not texts or not all(isinstance(text, str) and text for text in texts):
            return Fail(status=400, message="'$.input' is invalid. Please check the API reference.")
        return None


@asynccontextmanager
async def openai_server(
    reply: Handler | Reply | str | dict[str, Any] = "Hello.", **options: Any
) -> AsyncIterator[OpenAIServer]:
    """A running server; `options` are the fields of OpenAIServer."""
    handler = reply if callable(reply) else script(reply)
    async with OpenAIServer(reply=handler, **options).running() as server:
        yield server


def embed(text: str, dimensions: int) -> list[float]:
    """A deterministic unit vector: words and their first letters are hashed, so that like texts lie close.

    Long words count for more than short ones, which are mostly in every text.
    """
    vector = np.zeros(dimensions)
    for word in re.findall(r"\w+", text.lower()):
        weight = min(len(word), 8) ** 2 / 64
        for feature in (word, word[:5]):
            digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()
            vector[int.from_bytes(digest[:4], "big") % dimensions] += weight * (1 if digest[4] % 2 else -1)
    norm = float(np.linalg.norm(vector))
    if norm == 0:
        vector[0] = norm = 1.0
    return [float(value) for value in vector / norm]


def count_tokens(text: str) -> int:
    """About four characters a token."""
    return max(1, len(text) // 4)


def _content(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


def _as_reply(value: Reply | str | dict[str, Any]) -> Reply:
    if isinstance(value, dict):
        return Say(text=json.dumps(value, ensure_ascii=False))
    return Say(text=value) if isinstance(value, str) else value


def _unknown(model: str) -> Fail:
    return Fail(status=404, message=f"The model `{model}` does not exist.", code="model_not_found")


def _model_card(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "local"}


def _error(failure: Fail) -> web.Response:
    kind = "server_error" if failure.status >= 500 else "invalid_request_error"
    error = {"message": failure.message, "type": kind, "param": failure.param, "code": failure.code}
    headers = {"Retry-After": failure.retry_after} if failure.retry_after else None
    return web.json_response({"error": error}, status=failure.status, headers=headers)


def _encoded(vector: list[float], encoding: str | None) -> list[float] | str:
    if encoding == "base64":
        return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
    return vector


def _usage(request: ChatRequest, text: str) -> dict[str, int]:
    prompt, completion = count_tokens(request.text), count_tokens(text)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _head(request: ChatRequest, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-local", "object": kind, "created": int(time.time()), "model": request.body["model"]}


def _completion(request: ChatRequest, reply: Say | Refuse) -> dict[str, Any]:
    finish_reason = reply.finish_reason if isinstance(reply, Say) else "stop"
    choice = {"index": 0, "message": _message(request, reply), "finish_reason": finish_reason, "logprobs": None}
    return _head(request, "chat.completion") | {"choices": [choice], "usage": _usage(request, reply.text)}


def _message(request: ChatRequest, reply: Say | Refuse) -> dict[str, Any]:
    if isinstance(reply, Refuse):
        return {"role": "assistant", "content": None, "refusal": reply.text}
    if request.body.get("tools"):
        function = {"name": request.schema_name, "arguments": reply.text}
        call = {"id": "call_local", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"role": "assistant", "content": reply.text}


async def _stream(http: web.Request, request: ChatRequest, reply: Say | Refuse | Hang | Drop) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(http)
    key = "refusal" if isinstance(reply, Refuse) else "content"
    deltas: Iterable[dict[str, Any]] = [{key: piece} for piece in re.findall(r"\s*\S+\s*", reply.text)]
    for delta in ({"role": "assistant", "content": ""}, *deltas):
        await _send(response, _chunk(request, delta))
    if isinstance(reply, Hang | Drop):
        return await _go_silent(http, reply)
    await _send(response, _chunk(request, {}, reply.finish_reason if isinstance(reply, Say) else "stop"))
    if (request.body.get("stream_options") or {}).get("include_usage"):
        head = _head(request, "chat.completion.chunk")
        await _send(response, head | {"choices": [], "usage": _usage(request, reply.text)})
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


def _chunk(request: ChatRequest, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return _head(request, "chat.completion.chunk") | {"choices": [choice]}


async def _send(response: web.StreamResponse, chunk: dict[str, Any]) -> None:
    await response.write(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode())


async def _go_silent(http: web.Request, reply: Hang | Drop) -> web.StreamResponse:
    if isinstance(reply, Hang):
        await asyncio.Event().wait()
    if http.transport is not None:
        http.transport.abort()
    return web.Response()
