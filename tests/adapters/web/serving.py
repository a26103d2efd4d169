"""Runs `parley serve` as a separate process."""

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from tests.cli.conftest import environment_for


@contextlib.asynccontextmanager
async def serve_parley(home: Path, **extra_environment: str) -> AsyncGenerator[str]:
    """Run the server and yield its address. At the end it receives SIGTERM and must exit cleanly."""
    port = find_free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "serve", "--port", str(port)),
        env=environment_for(home, PARLEY_PORT=str(port), **extra_environment),
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
            error_output = (await process.stderr.read()).decode()
            assert (await process.wait(), "Traceback" in error_output) == (0, False), error_output
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
