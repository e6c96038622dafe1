import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from crag_graph.embedding import Embedder
from crag_graph.models.embed_api import ApiEmbedder
from crag_graph.services import ModelBusyError, ModelRejectedError, ModelReplyError
from tests.fakes.openai_server import KEY, RATE_LIMITED, Fail, OpenAIServer, Raw, openai_server


@asynccontextmanager
async def embedder_of(
    server_options: dict[str, Any], **options: Any
) -> AsyncIterator[tuple[ApiEmbedder, OpenAIServer]]:
    async with openai_server(**server_options) as server:
        given: dict[str, Any] = {
            "base_url": server.base_url,
            "api_key": KEY,
            "model": "local-embed",
            "timeout": 0.5,
        } | options
        embedder = ApiEmbedder(**given)
        try:
            yield embedder, server
        finally:
            await embedder.close()


async def test_texts_become_unit_vectors_whose_product_is_their_likeness() -> None:
    async with embedder_of({}) as (embedder, _):
        protocol: Embedder = embedder
        vectors = await protocol.embed(["parental leave in days", "days of parental leave", "gradient descent"])
    assert vectors.shape == (3, 256)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


async def test_the_dimensions_are_learnt_from_the_server() -> None:
    async with embedder_of({"dimensions": 96}) as (embedder, server):
        assert await embedder.discover() == 96
        assert await embedder.discover() == 96
        assert embedder.dimensions == 96
        assert (await embedder.embed([])).shape == (0, 96)
    assert len(server.embeds) == 1


async def test_shorter_vectors_are_asked_for_and_are_another_model_to_the_index() -> None:
    async with embedder_of({}, dimensions=64) as (embedder, server):
        assert (await embedder.embed(["leave"])).shape == (1, 64)
    assert embedder.name == "local-embed@64"
    assert server.embeds[0]["dimensions"] == 64


async def test_many_texts_go_in_batches_and_stay_in_order() -> None:
    texts = [f"text number {number}" for number in range(300)]
    async with embedder_of({"max_batch": 128}) as (embedder, server):
        vectors = await embedder.embed(texts)
        again = await embedder.embed([texts[299]])
    assert len(vectors) == 300
    assert [len(body["input"]) for body in server.embeds] == [128, 128, 44, 1]
    np.testing.assert_allclose(vectors[299], again[0], rtol=1e-5)


async def test_empty_broken_and_odd_texts_get_vectors_too() -> None:
    async with embedder_of({}) as (embedder, _):
        vectors = await embedder.embed(["", "\0", " ", "a\ud800b", "leave"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("failure", [RATE_LIMITED, Fail(status=500), Fail(status=503)])
async def test_a_server_in_trouble_is_busy(failure: Fail) -> None:
    async with embedder_of({"embed_failure": failure}) as (embedder, server):
        with pytest.raises(ModelBusyError):
            await embedder.embed(["leave"])
    assert len(server.embeds) == 1


async def test_a_slow_server_is_busy() -> None:
    async with embedder_of({"embed_latency": 5.0}, timeout=0.2) as (embedder, _):
        with pytest.raises(ModelBusyError):
            await embedder.embed(["leave"])


@pytest.mark.parametrize(
    ("options", "message"),
    [({"api_key": "wrong"}, "key"), ({"model": "embed-99"}, "embed-99")],
    ids=["wrong key", "unknown model"],
)
async def test_wrong_settings_are_rejected(options: dict[str, str], message: str) -> None:
    async with embedder_of({}, **options) as (embedder, _):
        with pytest.raises(ModelRejectedError, match=message):
            await embedder.embed(["leave"])


def reply_of(vectors: Sequence[Sequence[float]]) -> Raw:
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return Raw(body=json.dumps({"object": "list", "data": data, "model": "local-embed"}))


@pytest.mark.parametrize(
    "reply",
    [
        reply_of([[1.0, 2.0]]),
        reply_of([[1.0], [1.0, 2.0]]),
        reply_of([[1.0, 2.0], [float("nan"), 0.0]]),
        Raw(body="{}"),
    ],
    ids=["one too few", "different lengths", "not a number", "no vectors"],
)
async def test_vectors_that_cannot_be_used_are_not_used(reply: Raw) -> None:
    async with embedder_of({"embed_failure": reply}) as (embedder, _):
        with pytest.raises(ModelReplyError):
            await embedder.embed(["leave", "travel"])


async def test_a_model_that_changes_its_length_is_noticed() -> None:
    async with embedder_of({"dimensions": 96}) as (embedder, server):
        await embedder.embed(["leave"])
        server.dimensions = 64
        with pytest.raises(ModelReplyError, match="64 dimensions, not 96"):
            await embedder.embed(["leave"])


async def test_a_vector_of_zeros_still_has_a_direction() -> None:
    async with embedder_of({"embed_failure": reply_of([[0.0, 0.0]])}) as (embedder, _):
        np.testing.assert_allclose(np.linalg.norm(await embedder.embed(["leave"]), axis=1), 1.0)
