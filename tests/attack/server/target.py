"""The attacked server: where it listens, what proves a Slack delivery to it, and what it uses of the machine."""

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import resource
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.cli.conftest import environment_for
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer

SLACK_PATH: Final = "/slack/events"
_START_TIMEOUT_S: Final = 120.0


@dataclass(frozen=True, kw_only=True)
class AttackTarget:
    """`process_id` and `home` are None for a server whose machine cannot be looked into."""

    host: str
    port: int
    slack_secret: str
    process_id: int | None = None
    home: Path | None = None
    error_output: Path | None = None

    @property
    def origin(self) -> str:
        return f"http://{self.host}:{self.port}"

    def signature_headers(self, body: bytes) -> dict[str, str]:
        timestamp = str(int(time.time()))
        digest = hmac.new(self.slack_secret.encode(), f"v0:{timestamp}:".encode() + body, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}

    def read_resident_mb(self) -> float:
        """The memory of the process that listens; 0 where it cannot be read."""
        return self._read_status_kb("VmRSS") / 1024

    def read_peak_mb(self) -> float:
        """The most memory that the process has used since `forget_peak`."""
        return self._read_status_kb("VmHWM") / 1024

    def forget_peak(self) -> None:
        if self.process_id is not None:
            with contextlib.suppress(OSError):
                Path(f"/proc/{self.process_id}/clear_refs").write_text("5", encoding="ascii")

    def read_cpu_s(self) -> float:
        """The processor time that the process has used so far; 0 where it cannot be read."""
        if self.process_id is None:
            return 0.0
        fields = Path(f"/proc/{self.process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def read_log_bytes(self) -> int:
        """The size of the log and of the error output together."""
        logs = [*self.home.glob("logs/*")] if self.home else []
        paths = [*logs, *([self.error_output] if self.error_output else [])]
        return sum(path.stat().st_size for path in paths)

    def _read_status_kb(self, name: str) -> int:
        if self.process_id is None:
            return 0
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self.process_id}/status").read_text(encoding="utf-8").splitlines():
                if line.startswith(f"{name}:"):
                    return int(line.split()[1])
        return 0


@contextlib.asynccontextmanager
async def start_target(code: Path, *, max_files: int, **environ: str) -> AsyncGenerator[AttackTarget]:
    """Runs `parley serve` from the code in this folder, with Slack's stand-in and so many open files at most."""
    with tempfile.TemporaryDirectory(prefix="parley-attack-") as name:
        home, port = Path(name), _find_free_port()
        error_output = home / "stderr.txt"
        async with SlackServer() as slack:
            variables = {
                "SLACK_BOT_TOKEN": TOKEN,
                "SLACK_SIGNING_SECRET": SIGNING_SECRET,
                "SLACK_API_URL": slack.api_url,
            }
            python = code / ".venv/bin/python"
            with error_output.open("wb") as errors:
                process = await asyncio.create_subprocess_exec(
                    *(str(python if python.exists() else sys.executable), "-m", "bot.cli", "serve"),
                    cwd=code,
                    env=environment_for(home, PARLEY_PORT=str(port), PYTHONPATH=str(code), **variables, **environ),
                    stderr=errors,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (max_files, max_files)),
                )
            target = AttackTarget(
                host="127.0.0.1",
                port=port,
                slack_secret=SIGNING_SECRET,
                process_id=process.pid,
                home=home,
                error_output=error_output,
            )
            try:
                await _wait_until_listening(target)
                yield target
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                try:
                    async with asyncio.timeout(60):
                        await process.wait()
                except TimeoutError:
                    process.kill()
                    await process.wait()


async def _wait_until_listening(target: AttackTarget) -> None:
    assert target.error_output is not None
    async with asyncio.timeout(_START_TIMEOUT_S):
        while "listening on" not in target.error_output.read_text(encoding="utf-8"):  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.1)


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def encode_json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value).encode()
