"""Replicas of `parley serve`, which are started again whenever they end, as by a supervisor."""

import asyncio
import contextlib
import os
import random
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import aiohttp

from tests.adapters.web.serving import find_free_port
from tests.cli.conftest import environment_for
from tests.servers.process import run_program

_PROC: Final = Path("/proc")
_RESTART_PAUSE_S: Final = 0.2


@dataclass
class ServedReplica:
    """One replica on its own port. It runs while `keep_running` does. `module`: what runs as `parley`."""

    home: Path
    settings: Mapping[str, str]
    module: str = "bot.cli"
    port: int = field(default_factory=find_free_port)
    start_count: int = 0
    _process: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def keep_running(self) -> None:
        """Runs it until cancelled; starts it again when it ends or is killed."""
        while True:
            await self._run_once()
            await asyncio.sleep(_RESTART_PAUSE_S)

    async def _run_once(self) -> None:
        command = (sys.executable, "-m", self.module, "serve", "--port", str(self.port))
        environment = environment_for(self.home, PARLEY_PORT=str(self.port), **self.settings)
        async with run_program(command, environment=environment, log=self.home / "stderr.log") as self._process:
            self.start_count += 1
            await self._process.wait()

    def kill(self) -> bool:
        """Kills the process that receives; its workers end with it. False if it is not running."""
        if self._process is None or self._process.returncode is not None:
            return False
        self._process.kill()
        return True

    def kill_worker(self, rng: random.Random) -> bool:
        """Kills one of its worker processes; False if it has none at the moment."""
        workers = self._list_workers()
        if not workers:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(rng.choice(workers), signal.SIGKILL)
            return True
        return False

    def pause_workers(self) -> int:
        """Nobody answers until `resume_workers`; questions are accepted meanwhile. Returns how many have paused."""
        return self._signal_workers(signal.SIGSTOP)

    def resume_workers(self) -> int:
        return self._signal_workers(signal.SIGCONT)

    def _signal_workers(self, number: signal.Signals) -> int:
        workers = self._list_workers()
        for worker in workers:
            os.kill(worker, number)
        return len(workers)

    def _list_workers(self) -> list[int]:
        if self._process is None or self._process.returncode is not None:
            return []
        with contextlib.suppress(OSError):
            pid = self._process.pid
            return [int(child) for child in (_PROC / f"{pid}/task/{pid}/children").read_text().split()]
        return []

    async def wait_until_ready(self, timeout_s: float = 120.0) -> None:
        """Until it answers and has a worker."""
        async with asyncio.timeout(timeout_s), aiohttp.ClientSession() as session:
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    async with session.get(f"{self.address}/readyz") as response:
                        if response.status == 200:
                            return
                await asyncio.sleep(0.1)
