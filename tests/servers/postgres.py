"""A real PostgreSQL for the session: from `PARLEY_TEST_POSTGRES_URL`, or local binaries in a scratch folder."""

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from tests.servers.missing import ServerMissing
from tests.servers.process import UNPRIVILEGED, free_port, last_log_line, run_server, scratch_folder

_START_S = 60
_DISABLED_SETTINGS = ("fsync", "synchronous_commit", "full_page_writes")  # the data is thrown away


@contextmanager
def postgres_server(*, durable: bool = False) -> Generator[str]:
    """Run a PostgreSQL server; gives the address of its maintenance database, `postgresql://…`.

    `durable`: committed data is on the disk. Raises `ServerMissing`.
    """
    if configured_url := os.environ.get("PARLEY_TEST_POSTGRES_URL"):
        yield configured_url
        return
    with restartable_postgres_server(durable=durable) as server:
        yield server.url


@contextmanager
def restartable_postgres_server(*, durable: bool = True) -> Generator["RestartableServer"]:
    """Run a PostgreSQL server of one's own. Raises `ServerMissing`."""
    binaries = _find_binaries()
    with scratch_folder("pg") as scratch:
        _initialise_data(binaries, scratch)
        server = RestartableServer(binaries, scratch, durable=durable)
        try:
            server.start()
            yield server
        finally:
            server.stop()


class RestartableServer:
    """A server that can be stopped as by a crash: it recovers from its log when it is started again."""

    def __init__(self, binaries: Path, scratch: Path, *, durable: bool) -> None:
        port, settings = free_port(), [] if durable else [f"-c{name}=off" for name in _DISABLED_SETTINGS]
        command = [str(binaries / "postgres"), "-D", str(scratch / "data"), "-h", "127.0.0.1", "-p", str(port)]
        self._command = [*command, "-k", str(scratch), "-cmax_connections=200", *settings]
        self._scratch, self._running = scratch, ExitStack()
        self.process_id: int | None = None  # None: it was not started
        self.url = f"postgresql://parley@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        """Return when it answers. Raises `ServerMissing`."""
        _wait_until_ready(self.launch(), self.url, self._scratch / "server.log")

    def launch(self) -> "subprocess.Popen[bytes]":
        """Return before it answers. The server ends with the thread that calls this."""
        log = self._scratch / "server.log"
        process = self._running.enter_context(
            run_server(self._command, folder=self._scratch, log=log, stop=signal.SIGQUIT)
        )
        self.process_id = process.pid
        return process

    def stop(self) -> None:
        """Stop at once, without a checkpoint."""
        self._running.close()


def _find_binaries() -> Path:
    """Returns the folder of `initdb` and `postgres`; on Debian the newest version's, which is not on the PATH."""
    if (initdb := shutil.which("initdb")) and shutil.which("postgres"):
        return Path(initdb).resolve().parent
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version_of_binaries, reverse=True):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise ServerMissing("postgres", "neither PARLEY_TEST_POSTGRES_URL nor initdb and postgres", required=False)


def _version_of_binaries(binaries: Path) -> int:
    name = binaries.parent.name
    return int(name) if name.isdigit() else 0


def _initialise_data(binaries: Path, scratch: Path) -> None:
    command = [str(binaries / "initdb"), "-D", str(scratch / "data"), "-U", "parley", "-A", "trust", "-E", "UTF8"]
    command += ["--locale=C", "--no-sync", "--no-instructions"]
    completed = subprocess.run(command, cwd=scratch, user=UNPRIVILEGED, capture_output=True, text=True, check=False)
    if completed.returncode:
        raise ServerMissing("postgres", f"initdb failed: {completed.stderr.strip()[-300:]}", required=True)


def _wait_until_ready(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        if asyncio.run(_can_connect(url)):
            return
        time.sleep(0.1)
    raise ServerMissing("postgres", f"it did not start: {last_log_line(log)}", required=True)


async def _can_connect(url: str) -> bool:
    try:
        await _execute_statement(url, "SELECT 1")
    except (OSError, SQLAlchemyError):
        return False
    return True


@asynccontextmanager
async def fresh_database(server_url: str) -> AsyncGenerator[str]:
    """Create a new empty database; gives its address for SQLAlchemy's async engine, and drops it at the end."""
    name = f"test_{uuid4().hex}"
    await _execute_statement(server_url, f'CREATE DATABASE "{name}"')
    try:
        yield _async_url(server_url, database=name)
    finally:
        await _execute_statement(server_url, f'DROP DATABASE "{name}" WITH (FORCE)')


async def _execute_statement(url: str, statement: str) -> None:
    """Execute a statement outside a transaction, which CREATE DATABASE requires."""
    engine = create_async_engine(_async_url(url), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    try:
        async with engine.connect() as connection:
            await connection.execute(text(statement))
    finally:
        await engine.dispose()


def _async_url(url: str, *, database: str | None = None) -> str:
    parsed = make_url(url).set(drivername="postgresql+asyncpg")
    return (parsed.set(database=database) if database else parsed).render_as_string(hide_password=False)
