"""One HTTP client per event loop: a kept-alive connection of one loop breaks in another."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import openai

T = TypeVar("T")

_CONNECT_SECONDS = 5.0


class Connections(Generic[T]):
    """Clients made by `make` from an HTTP client that belongs to the running loop.

    `timeout` in seconds: the longest silence of the server; 5 of them at most to connect.
    """

    def __init__(self, make: Callable[[openai.DefaultAsyncHttpxClient], T], *, timeout: float) -> None:
        self._make = make
        self._timeout = timeout
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[openai.DefaultAsyncHttpxClient, T]]
        self._clients = WeakKeyDictionary()

    def client(self) -> T:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            timeout = openai.Timeout(self._timeout, connect=min(_CONNECT_SECONDS, self._timeout))
            http = openai.DefaultAsyncHttpxClient(timeout=timeout)
            self._clients[loop] = (http, self._make(http))
        return self._clients[loop][1]

    async def close(self) -> None:
        """Closes the client of the running loop; one of a loop that has ended has no connection any more."""
        http, _ = self._clients.pop(asyncio.get_running_loop(), (None, None))
        if http is not None:
            await http.aclose()
