"""A local collector that takes OpenTelemetry spans, by OTLP over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass(kw_only=True)
class OtlpServer:
    """Keeps every span that it was sent, and the raw bodies. `status`: what it answers."""

    status: int = 200
    spans: list[Span] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    endpoint: str = ""

    @asynccontextmanager
    async def running(self) -> "AsyncIterator[OtlpServer]":
        app = web.Application()
        app.router.add_post("/v1/traces", self._take)
        runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        self.endpoint = f"http://{host}:{port}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _take(self, http: web.Request) -> web.Response:
        body = await http.read()
        self.bodies.append(body)
        sent = ExportTraceServiceRequest.FromString(body)
        self.spans += [span for of in sent.resource_spans for scope in of.scope_spans for span in scope.spans]
        return web.Response(status=self.status)
