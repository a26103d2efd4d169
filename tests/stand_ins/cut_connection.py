"""A relay before a server that cuts its connections, as networks and restarted servers do."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress


class ConnectionRelay:
    """Relays to a port of this machine.

    `remaining_bytes` None: never cuts; else each further byte of the server counts, and at 0 the connection is cut, and
    `cuts_left` further ones as soon as they open.
    """

    def __init__(self, target_port: int) -> None:
        self._target_port, self.port = target_port, 0
        self.remaining_bytes: int | None = None
        self.cuts_left = self.connection_count = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._client_writers: list[asyncio.StreamWriter] = []

    async def relay_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connection_count += 1
        self._writers.append(writer)
        self._client_writers.append(writer)
        if self.remaining_bytes == 0 and self.cuts_left > 0:
            self.cuts_left -= 1
            writer.close()
            return
        if self.remaining_bytes == 0:
            self.remaining_bytes = None
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        self._writers.append(server_writer)
        await asyncio.gather(
            self._copy_bytes(reader, server_writer, is_from_server=False),
            self._copy_bytes(server_reader, writer, is_from_server=True),
        )

    async def send_as_server(self, data: bytes) -> None:
        """Send these bytes to all open clients, which stay connected."""
        for writer in (writer for writer in self._client_writers if not writer.is_closing()):
            writer.write(data)
            await writer.drain()

    async def close_connections(self) -> None:
        for writer in self._writers:
            writer.close()
        for writer in self._writers:
            with suppress(OSError):
                await writer.wait_closed()

    async def _copy_bytes(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_from_server: bool
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(4096):
                if is_from_server and self.remaining_bytes is not None:
                    data = data[: self.remaining_bytes]
                    self.remaining_bytes -= len(data)
                writer.write(data)
                await writer.drain()
                if is_from_server and self.remaining_bytes == 0:
                    break
        writer.close()


@asynccontextmanager
async def relay_connections(target_port: int) -> AsyncGenerator[ConnectionRelay]:
    relay = ConnectionRelay(target_port)
    server = await asyncio.start_server(relay.relay_connection, "127.0.0.1", 0)
    relay.port = int(server.sockets[0].getsockname()[1])
    try:
        yield relay
    finally:
        server.close()
        await relay.close_connections()
