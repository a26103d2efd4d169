"""Rebuilds of a bucket that are killed, and one at the end that is not."""

import asyncio
import random
import signal
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storage.search.ids import BucketId
from tests.cli.conftest import environment_for
from tests.faults.servers import hurried_serving
from tests.servers.process import run_program

_KILL_TIMEOUT_S, _REBUILD_TIMEOUT_S = 120.0, 240.0
_RUNNING_S: Final = (2.0, 12.0)  # until the kill


@dataclass
class BucketRebuilds:
    bucket: BucketId
    home: Path
    settings: Mapping[str, str]
    rng: random.Random

    async def kill_rebuild(self) -> bool:
        """Begins to index the bucket anew until a command was killed before its end; False if none was in time."""
        deadline = time.monotonic() + _KILL_TIMEOUT_S
        while time.monotonic() < deadline:
            async with self._run_rebuild() as process:
                try:
                    async with asyncio.timeout(self.rng.uniform(*_RUNNING_S)):
                        await process.wait()
                except TimeoutError:
                    if process.returncode is None:
                        process.kill()
                    if await process.wait() == -signal.SIGKILL:
                        return True
        return False

    async def finish_rebuild(self) -> bool:
        """Whether a last one ends well. Raises `TimeoutError`."""
        async with asyncio.timeout(_REBUILD_TIMEOUT_S), self._run_rebuild() as process:
            return await process.wait() == 0

    @asynccontextmanager
    async def _run_rebuild(self) -> AsyncGenerator[asyncio.subprocess.Process]:
        command = (sys.executable, "-m", hurried_serving.__name__, "bucket", "reindex", self.bucket, "--yes")
        environment = environment_for(self.home, **self.settings)
        async with run_program(command, environment=environment, log=self.home / "rebuild.log") as process:
            yield process
