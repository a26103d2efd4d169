"""Faults on demand: what comes instead of an answer."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field

from aiohttp import web


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Instead of an answer. `status` 0 cuts the connection; with `done` only the answer is lost, the work is not."""

    status: int = 0
    retry_after: int | None = None
    done: bool = False
    hang: bool = False  # no answer at all
    error: str = ""  # refused, by Slack's word for it
    late: asyncio.Event | None = None  # of an upload: it is taken, once this is set


@dataclass
class Faults:
    """Those that are still to come, by method."""

    waiting: dict[str, list[Fault]] = field(default_factory=lambda: defaultdict[str, list[Fault]](list))

    def add(self, method: str, *faults: Fault) -> None:
        self.waiting[method] += faults

    def next(self, method: str) -> Fault | None:
        return self.waiting[method].pop(0) if self.waiting[method] else None


async def failed(request: web.Request, fault: Fault) -> web.StreamResponse:
    if fault.hang:
        await asyncio.Event().wait()
    if fault.error:
        return web.json_response({"ok": False, "error": fault.error})
    if fault.status == 0:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    if fault.status == 429:
        return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)
    return web.Response(status=fault.status, text="<html>upstream</html>", content_type="text/html", headers=headers)
