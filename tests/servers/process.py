"""Server processes that end with the test session, and never run as root."""

import asyncio
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1  # prctl(2)
_MIN_FREE_BYTES = 4_000_000_000  # bytes; a session needs far less
UNPRIVILEGED = "nobody" if os.getuid() == 0 else None


@contextmanager
def scratch_folder(name: str, *, in_memory: bool = True) -> Generator[Path]:
    """Create a folder owned by the server's user; removed at the end. Its path is short enough for a unix socket."""
    folder = Path(tempfile.mkdtemp(prefix=f"parley-{name}-", dir=_memory_folder() if in_memory else None))
    if UNPRIVILEGED is not None:
        shutil.chown(folder, UNPRIVILEGED)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def run_server(
    command: Sequence[str],
    *,
    folder: Path,
    log: Path,
    environment: Mapping[str, str] | None = None,
    group: str | None = None,
    stop: signal.Signals = signal.SIGKILL,
) -> Generator[subprocess.Popen[bytes]]:
    """Run a server until the block ends or this process dies. It is stopped at once, because its data is discarded."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=None if environment is None else {**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=UNPRIVILEGED,
            group=group,
            start_new_session=True,
            preexec_fn=_die_with_parent,  # fixtures are set up in one thread
        )
    try:
        yield process
    finally:
        process.send_signal(stop)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@asynccontextmanager
async def run_program(
    command: Sequence[str], *, environment: Mapping[str, str], log: Path
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Run a program of this repository until the block ends, in whatever way, or this process dies."""
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=_die_with_parent,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await _wait_in_any_case(process)


async def _wait_in_any_case(process: asyncio.subprocess.Process) -> None:
    """Wait for its end also when the task is cancelled meanwhile, as all tasks are when a run is interrupted."""
    waiting, cancellation = asyncio.create_task(process.wait()), None
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError as exc:
            cancellation = exc
    if cancellation is not None:
        raise cancellation


def _memory_folder() -> Path | None:
    """Returns a folder in memory, where syncing costs nothing; None if there is none with enough space."""
    memory = Path("/dev/shm")
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _MIN_FREE_BYTES:
        return memory
    return None


def _die_with_parent() -> None:
    if hasattr(os, "sched_getaffinity"):  # Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def last_log_line(log: Path) -> str:
    """Returns the last line of the server's log, for the reason of a skip."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"
