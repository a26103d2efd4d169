"""`parley serve` as a process of its own."""

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from tests.cli.conftest import environ


@contextlib.asynccontextmanager
async def serving(home: Path, **more: str) -> AsyncGenerator[str]:
    """Its address. Told to end by SIGTERM, it must end well."""
    port = a_free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "serve", "--port", str(port)),
        env=environ(home, PARLEY_PORT=str(port), **more),
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(60):
            line = (await process.stderr.readline()).decode()
        assert f"listening on http://127.0.0.1:{port}" in line, line
        yield f"http://127.0.0.1:{port}"
        process.terminate()
        async with asyncio.timeout(60):
            rest = (await process.stderr.read()).decode()
            assert (await process.wait(), "Traceback" in rest) == (0, False), rest
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
