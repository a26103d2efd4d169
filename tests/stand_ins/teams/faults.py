"""Faults on demand, returned in place of an answer, and outages of a service."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

_CODES: Final = {
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    412: "PreconditionFailed",
    429: "TooManyRequests",
    500: "InternalServerError",
    503: "ServiceUnavailable",
}


@dataclass(frozen=True, kw_only=True)
class TeamsFault:
    """A fault in place of an answer. `status` 0 cuts the connection. With `takes_effect` only the answer is lost."""

    status: int = 0
    code: str = ""  # the error code, such as `ConversationBlockedByUser` or `invalid_client`
    message: str = "a planned fault"  # of the error
    retry_after: int | None = None  # seconds
    takes_effect: bool = False
    hang: bool = False  # no answer at all
    released_by: asyncio.Event | None = None  # the call is served once this event is set


@dataclass
class PlannedTeamsFaults:
    """The pending faults by the name of a call, and the calls that fail until their outage ends."""

    pending: dict[str, list[TeamsFault]] = field(default_factory=lambda: defaultdict[str, list[TeamsFault]](list))
    outages: set[str] = field(default_factory=set[str])

    def add_faults(self, name: str, *faults: TeamsFault) -> None:
        self.pending[name] += faults

    def next_fault(self, name: str) -> TeamsFault | None:
        if name in self.outages:
            return TeamsFault(status=503)
        return self.pending[name].pop(0) if self.pending[name] else None


async def teams_fault_response(request: web.Request, fault: TeamsFault) -> web.StreamResponse:
    if fault.hang:
        await asyncio.Event().wait()
    if fault.status == 0:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    if fault.status in {502, 504}:
        return web.Response(status=fault.status, text="<html>gateway</html>", content_type="text/html", headers=headers)
    error = {"code": fault.code or _CODES.get(fault.status, "BadRequest"), "message": fault.message}
    return web.json_response({"error": error}, status=fault.status, headers=headers)
