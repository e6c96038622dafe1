"""Carries a fault out on a request: what the caller gets instead of an answer."""

import asyncio
import json

from aiohttp import web

from tests.slack_workspace.faults import Fault

FOR_EVER = 3600.0


async def spoil(fault: Fault, request: web.Request) -> web.Response | None:
    """The spoiled response; None where the fault was only a delay."""
    await asyncio.sleep(FOR_EVER if fault.hang else fault.delay)
    if fault.drop and request.transport:
        request.transport.abort()
    if fault.status:
        headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
        body = {"ok": False, "error": fault.error or "ratelimited"} if fault.status == 429 else {}
        return web.json_response(text=json.dumps(body), status=fault.status, headers=headers)
    if fault.error or fault.drop:
        return web.json_response({"ok": False, "error": fault.error or "dropped"})
    return None
