"""Runs `parley serve` as a separate process."""

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from types import MappingProxyType

from tests.cli.conftest import environment_for


@contextlib.asynccontextmanager
async def serve_parley(
    home: Path, extra_environment: Mapping[str, str] = MappingProxyType({}), *, port: int = 0, awaits_start: bool = True
) -> AsyncGenerator[str]:
    """Run the server and yield its address; without `awaits_start`, as soon as it takes connections. At the end it
    receives SIGTERM and must exit cleanly.
    """
    port = port or find_free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "serve", "--port", str(port)),
        env=environment_for(home, PARLEY_PORT=str(port), **extra_environment),
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(60):
            if not awaits_start:
                await wait_for_connection(port)
            else:
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


async def wait_for_connection(port: int) -> None:
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.01)


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
