"""Runs a command beside local servers that stand for the outside: `python -m tests.fakes.serving COMMAND …`.

The command gets the servers' addresses as further arguments: `--chat DELAY=URL` for a chat model that takes
DELAY milliseconds a call, and `--web URL` for a Tavily. The servers end when it does.
"""

import asyncio
import re
import sys
from contextlib import AsyncExitStack
from typing import Any

from tests.fakes.openai_server import ChatRequest, openai_server
from tests.fakes.scripted_chat import scripted_chat
from tests.fakes.tavily_server import WebPage, tavily_server

DELAYS = (0, 300)
"""Milliseconds that a model call takes."""

PAGES = (
    WebPage(
        url="https://pages.example/transformers",
        title="Transformers explained",
        content="A Transformer is an architecture of neural networks that is built on attention.",
        raw="""A Transformer is a deep learning architecture for sequences that is built on attention alone. \
Each position of the sequence looks at every other position and takes from each as much as it needs.

The architecture of a Transformer has blocks of two layers. The first layer is attention with several heads. \
The second layer is a small network that treats each position by itself.

Around each layer lies a residual connection. Layer normalisation keeps the values of a position in range.

Because no position waits for the one before, a Transformer trains fast on many processors. \
Positions are told apart by an encoding that is added to the input.

Transformers were made for translation first. Later they became the architecture of large language models. \
They also read images, which are cut into patches for that.

The cost of attention grows with the square of the length. Many variants of the architecture try to lower it.""",
    ),
    WebPage(
        url="https://pages.example/layer-normalisation",
        title="Layer normalisation",
        content="Layer normalisation uses the mean and the variance of one example.",
        raw="""Layer normalisation scales the activations of one example by their own mean and variance. \
It needs no batch, so it works the same in training and in use.

Batch normalisation compares the examples of a batch with each other. \
Layer normalisation compares the features of a single example instead.

Recurrent networks and Transformers use layer normalisation, because their sequences differ in length. \
Convolutional networks mostly keep batch normalisation.

Both have a learned scale and shift for each feature. Both make training more stable.""",
    ),
    WebPage(
        url="https://pages.example/attention",
        title="Attention",
        content="Attention weighs what other positions say.",
        raw="""Attention weighs what other positions say by how well they match a query. \
A Transformer computes queries, keys and values from the same input in deep learning.

Several heads look for different relations at once. Their results are joined and mixed by one more matrix.""",
    ),
)


def in_short(request: ChatRequest) -> str | dict[str, Any]:
    """What the scripted model says; of an answer, the first sentence of each paragraph with its mark."""
    reply = scripted_chat(request)
    if isinstance(reply, dict):
        return reply
    return " ".join(re.sub(r"(?s)^(.+?[.!?])\s.*?(\s*\[\d+\])?$", r"\1\2", said) for said in reply.split("\n\n"))


async def main(command: list[str]) -> int:
    async with AsyncExitStack() as stack:
        addresses: list[str] = []
        for delay in DELAYS:
            chat = await stack.enter_async_context(openai_server(in_short, latency=delay / 1000))
            addresses += ["--chat", f"{delay}={chat.base_url}"]
        web = await stack.enter_async_context(tavily_server(PAGES))
        process = await asyncio.create_subprocess_exec(*command, *addresses, "--web", web.base_url)
        return await process.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
