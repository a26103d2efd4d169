"""The event loop as PostgreSQL's driver is given it: its connections go to checked addresses.

The driver resolves a name itself, once for each attempt, with TLS, without, and to cancel a statement. It is given the
name, which the certificate is for, and this loop, which resolves, checks and connects.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

from storage.ingest.sources.addresses import require_allowed_host


class CheckedLoop:
    """All but `create_connection` is that of the running loop."""

    def __init__(self, *, allow_private: bool) -> None:
        self._loop, self._allow_private = asyncio.get_running_loop(), allow_private

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    async def create_connection(
        self, protocol_factory: Callable[[], asyncio.Protocol], host: str, port: int, **options: Any
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        """Raises `OSError`, and `AddressRefused` for a private address."""
        if options.get("ssl") is not None:
            options.setdefault("server_hostname", host)
        connection = await self._connect_to_host(host, port)
        try:
            return await self._loop.create_connection(protocol_factory, sock=connection, **options)
        except BaseException:
            connection.close()
            raise

    async def _connect_to_host(self, host: str, port: int) -> socket.socket:
        failure: OSError = OSError("it has no address")
        for family, kind, protocol, _, address in await asyncio.to_thread(
            require_allowed_host, host, port, allow_private=self._allow_private
        ):
            connection = socket.socket(family, kind, protocol)
            connection.setblocking(False)
            try:
                await self._loop.sock_connect(connection, address)
            except OSError as exc:
                connection.close()
                failure = exc
            except BaseException:
                connection.close()
                raise
            else:
                return connection
        raise failure
