"""The streamable HTTP transport of the SDK, for the requests that `adapters.mcp.endpoint` has admitted.

Importing the SDK takes as long as half of the other start of a server, so this module is loaded by the first request.
"""

import asyncio
from typing import Any as Json
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR

from adapters.mcp.asgi_bridge import run_asgi
from adapters.mcp.server import SURFACE_NAME, McpServer, RequestContext
from bot.application import Application
from bot.ids import PersonId
from bot.programs.callers import ProgramCaller

_PERSON_KEY: Final = "parley_person"


class McpTransport:
    """Keeps nothing between two requests. Refuses a foreign `Host` (421) and `Origin` (403)."""

    def __init__(self, bot: Application, *, max_body_bytes: int) -> None:
        self._manager = StreamableHTTPSessionManager(
            McpServer(bot, _caller_of, shows_paths=False).build_server(),
            stateless=True,
            security_settings=security_settings_for(bot.settings.host, bot.settings.link_base),
            max_request_body_size=max_body_bytes,
        )
        self._is_started, self._is_ending = asyncio.Event(), asyncio.Event()
        self._run: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._run = asyncio.create_task(self._run_manager())
        await self._is_started.wait()

    async def close(self) -> None:
        self._is_ending.set()
        if self._run is not None:
            await self._run

    async def answer_request(self, request: web.Request, body: bytes, person: PersonId) -> web.StreamResponse:
        return await run_asgi(self._manager.handle_request, request, body, {_PERSON_KEY: person})

    async def _run_manager(self) -> None:
        """The SDK opens and closes a group of tasks, which has to happen in one task."""
        async with self._manager.run():
            self._is_started.set()
            await self._is_ending.wait()


def security_settings_for(host: str, public_url: str) -> TransportSecuritySettings:
    """The names by which this server may be called, and the pages that may call it (DNS rebinding)."""
    public_address = urlsplit(public_url)
    names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    public_host = public_address.netloc
    hosts = {public_host, *names, *(f"{name}:*" for name in names)}
    origins = {f"{public_address.scheme}://{public_host}", *(f"http://{name}:*" for name in names)}
    return TransportSecuritySettings(allowed_hosts=sorted(hosts), allowed_origins=sorted(origins))


def _caller_of(context: RequestContext) -> ProgramCaller:
    if context.request is None:
        raise MCPError(code=INTERNAL_ERROR, message="Something went wrong inside Parley.")
    state: dict[str, Json] = context.request.scope["state"]
    return ProgramCaller(surface=SURFACE_NAME, person=state[_PERSON_KEY])
