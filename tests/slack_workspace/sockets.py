"""Socket Mode as Slack speaks it: tickets, hello, envelopes to one connection at random, acks, disconnects."""

import asyncio
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from aiohttp import WSMsgType, web

from tests.slack_workspace.delivery import Ack, Kind, NotAcknowledged, Retry
from tests.slack_workspace.world import Json

MOST_CONNECTIONS = 10
APPROXIMATE_CONNECTION_TIME = 18060


@dataclass(kw_only=True, eq=False)
class Connection:
    """One open websocket of an app."""

    id: str
    socket: web.WebSocketResponse
    transport: asyncio.Transport | None
    waiting: dict[str, asyncio.Future[Json | None]] = field(default_factory=dict)
    """Envelopes that this connection has not acknowledged yet."""
    draining: bool = False
    """Told to go: gets nothing new."""


class Sockets:
    """The open connections of one app."""

    def __init__(self, *, app_id: str, random: Random, notify: Callable[[], None]) -> None:
        self._app_id = app_id
        self._notify = notify
        self._random = random
        self._tickets: set[str] = set()
        self.connections: list[Connection] = []

    def ticket(self) -> str:
        """Admits one connection, once."""
        ticket = secrets.token_hex(8)
        self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """The life of one connection, from its ticket to its end."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=401, text="This ticket was used or never given.")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        connection = Connection(id=f"applink-{secrets.token_hex(4)}", socket=socket, transport=request.transport)
        if len(self.connections) >= MOST_CONNECTIONS:
            await self._say_goodbye(connection, "too_many_websockets")
            await socket.close()
            return socket
        self.connections.append(connection)
        self._notify()
        try:
            await self._say_hello(connection)
            await self._listen(connection)
        finally:
            self._forget(connection)
        return socket

    async def send(self, kind: Kind, payload: Json, *, retry: Retry, within: float) -> Ack:
        """Hand the payload to one open connection and wait for its ack."""
        open_ones = [c for c in self.connections if not c.socket.closed and not c.draining]
        if not open_ones:
            raise NotAcknowledged("no_connection")
        connection = self._random.choice(open_ones)
        envelope_id = secrets.token_hex(16)
        envelope: Json = {
            "envelope_id": envelope_id,
            "type": kind.envelope,
            "accepts_response_payload": kind.answers_in_ack,
            "payload": payload,
        }
        if kind is Kind.EVENT:
            envelope |= {"retry_attempt": retry.number, "retry_reason": retry.reason}
        answer: asyncio.Future[Json | None] = asyncio.get_running_loop().create_future()
        connection.waiting[envelope_id] = answer
        try:
            async with asyncio.timeout(within):
                await connection.socket.send_str(json.dumps(envelope))
                return Ack(body=await answer, by=connection.id)
        except TimeoutError:
            raise NotAcknowledged("timeout") from None
        except ConnectionError:
            raise NotAcknowledged("connection_failed") from None
        finally:
            connection.waiting.pop(envelope_id, None)

    async def disconnect(self, reason: str, *, pause: float = 0.0) -> None:
        """Tell every connection to go; except after a mere warning it is closed when the pause is over."""
        leaving = [c for c in self.connections if not c.draining]
        for connection in leaving:
            connection.draining = reason != "warning"
            await self._say_goodbye(connection, reason)
        await asyncio.sleep(pause)
        for connection in leaving if reason != "warning" else ():
            await connection.socket.close()

    async def cut(self) -> None:
        """The network goes: no goodbye, no close frame."""
        for connection in list(self.connections):
            if connection.transport:
                connection.transport.abort()
        await asyncio.sleep(0)

    async def close(self) -> None:
        for connection in list(self.connections):
            await connection.socket.close()

    async def _say_hello(self, connection: Connection) -> None:
        await connection.socket.send_str(
            json.dumps(
                {
                    "type": "hello",
                    "num_connections": len(self.connections),
                    "debug_info": {
                        "host": connection.id,
                        "build_number": 10,
                        "approximate_connection_time": APPROXIMATE_CONNECTION_TIME,
                    },
                    "connection_info": {"app_id": self._app_id},
                }
            )
        )

    async def _say_goodbye(self, connection: Connection, reason: str) -> None:
        frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": connection.id}}
        if not connection.socket.closed:
            await connection.socket.send_str(json.dumps(frame))

    async def _listen(self, connection: Connection) -> None:
        async for frame in connection.socket:
            if frame.type is not WSMsgType.TEXT:
                continue
            ack = json.loads(frame.data)
            waiting = connection.waiting.get(ack.get("envelope_id", ""))
            if waiting and not waiting.done():
                waiting.set_result(ack.get("payload"))

    def _forget(self, connection: Connection) -> None:
        if connection in self.connections:
            self.connections.remove(connection)
        self._notify()
        for waiting in connection.waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError())
