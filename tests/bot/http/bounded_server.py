"""Serves an application on a free port of this machine, with connections bounded as `parley serve` bounds them."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from aiohttp import web
from structlog.typing import FilteringBoundLogger

from bot.http.connections import ConnectionLimits
from bot.http.listening import start_sites
from bot.http.request_checks import build_request_checks

ROOMY = ConnectionLimits(total=100, per_caller=100, unproven=10)


@dataclass
class HttpLogRecord:
    lines: list[MutableMapping[str, Any]] = field(default_factory=list[MutableMapping[str, Any]])

    @property
    def log(self) -> FilteringBoundLogger:
        return structlog.wrap_logger(
            None, processors=[self._record_line], wrapper_class=structlog.make_filtering_bound_logger("info")
        )

    def _record_line(self, _: object, level: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        self.lines.append({"level": level, **line})
        raise structlog.DropEvent


@contextlib.asynccontextmanager
async def serve_bounded(
    routes: Iterable[web.RouteDef], limits: ConnectionLimits = ROOMY, log: FilteringBoundLogger | None = None
) -> AsyncGenerator[int]:
    """Yields the port."""
    app = web.Application(middlewares=[build_request_checks(log or HttpLogRecord().log)])
    app.add_routes(routes)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    try:
        await start_sites(runner, "127.0.0.1", 0, limits)
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


@dataclass
class RawConnection:
    """A connection on which a test sends what it likes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send_bytes(self, data: bytes) -> None:
        self.writer.write(data)

    async def read_status(self) -> int | None:
        """The status of the next answer; None where the server has closed the connection."""
        try:
            line = await self.reader.readline()
        except ConnectionError:
            return None
        return int(line.split()[1]) if line else None

    async def is_closed_by_server(self) -> bool:
        """Whether the server closes it; waits for that, and is False for a connection that sends something first."""
        try:
            return await self.reader.read(1) == b""
        except ConnectionError:
            return True


@contextlib.asynccontextmanager
async def open_raw(port: int) -> AsyncGenerator[RawConnection]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield RawConnection(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
