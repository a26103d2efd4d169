"""Sends requests as bytes, so that they may be odd in every way, and reads the status that comes back."""

import asyncio
import contextlib
import re
from typing import Final

_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3})")


async def send_raw(
    host: str, port: int, request: bytes, *, timeout_s: float = 10.0, reads_all: bool = False
) -> int | None:
    """The status of the answer; None where the connection ends without one. `reads_all`: returns when the server has
    closed the connection.

    Raises `TimeoutError` where nothing comes in time, and `OSError` where nothing can be sent.
    """
    async with asyncio.timeout(timeout_s):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(request)
            with contextlib.suppress(ConnectionError):  # the answer may come before the whole request is sent
                await writer.drain()
            try:
                line = await reader.readline()
                if reads_all:
                    await reader.read()
            except ConnectionError:
                return None
            match = _STATUS.match(line)
            return int(match[1]) if match else None
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
