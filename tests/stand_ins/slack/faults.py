"""Faults on demand, returned in place of an answer."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field

from aiohttp import web


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault in place of an answer. `status` 0 cuts the connection. With `takes_effect` only the answer is lost."""

    status: int = 0
    retry_after: int | None = None
    takes_effect: bool = False
    hang: bool = False  # no answer at all
    error: str = ""  # a refusal with this error code of Slack
    released_by: asyncio.Event | None = None  # an upload is accepted once this event is set


@dataclass
class PlannedFaults:
    """The pending faults by method."""

    pending: dict[str, list[Fault]] = field(default_factory=lambda: defaultdict[str, list[Fault]](list))

    def add_faults(self, method: str, *faults: Fault) -> None:
        self.pending[method] += faults

    def next_fault(self, method: str) -> Fault | None:
        return self.pending[method].pop(0) if self.pending[method] else None


async def fault_response(request: web.Request, fault: Fault) -> web.StreamResponse:
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
