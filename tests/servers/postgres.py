"""A real PostgreSQL for the session: the one of `PARLEY_TEST_POSTGRES_URL`, or local binaries in a scratch folder."""

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from tests.servers.missing import ServerMissing
from tests.servers.process import UNPRIVILEGED, free_port, last_line, running, scratch_folder

_START_S = 60
_OFF = ("fsync", "synchronous_commit", "full_page_writes")  # the data is thrown away


@contextmanager
def postgres_server(*, durable: bool = False) -> Generator[str]:
    """The address of its maintenance database, `postgresql://…`. `durable`: what is committed is on its disk.

    Raises `ServerMissing`.
    """
    if given := os.environ.get("PARLEY_TEST_POSTGRES_URL"):
        yield given
        return
    binaries = _binaries()
    with scratch_folder("pg") as scratch:
        _initialise(binaries, scratch)
        port, log = free_port(), scratch / "server.log"
        settings = [] if durable else [f"-c{name}=off" for name in _OFF]
        command = [str(binaries / "postgres"), "-D", str(scratch / "data"), "-h", "127.0.0.1", "-p", str(port)]
        command += ["-k", str(scratch), "-cmax_connections=200", *settings]
        with running(command, folder=scratch, log=log, stop=signal.SIGQUIT) as process:
            url = f"postgresql://parley@127.0.0.1:{port}/postgres"
            _wait(process, url, log)
            yield url


def _binaries() -> Path:
    """The folder of `initdb` and `postgres`; the newest of a Debian, whose folders are not on the PATH."""
    if (found := shutil.which("initdb")) and shutil.which("postgres"):
        return Path(found).resolve().parent
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_number, reverse=True):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise ServerMissing("postgres", "neither PARLEY_TEST_POSTGRES_URL nor initdb and postgres", required=False)


def _number(binaries: Path) -> int:
    name = binaries.parent.name
    return int(name) if name.isdigit() else 0


def _initialise(binaries: Path, scratch: Path) -> None:
    command = [str(binaries / "initdb"), "-D", str(scratch / "data"), "-U", "parley", "-A", "trust", "-E", "UTF8"]
    command += ["--locale=C", "--no-sync", "--no-instructions"]
    done = subprocess.run(command, cwd=scratch, user=UNPRIVILEGED, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ServerMissing("postgres", f"initdb failed: {done.stderr.strip()[-300:]}", required=True)


def _wait(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        if asyncio.run(_connects(url)):
            return
        time.sleep(0.1)
    raise ServerMissing("postgres", f"it did not start: {last_line(log)}", required=True)


async def _connects(url: str) -> bool:
    try:
        await _execute(url, "SELECT 1")
    except (OSError, SQLAlchemyError):
        return False
    return True


@asynccontextmanager
async def fresh_database(server_url: str) -> AsyncGenerator[str]:
    """A new empty database of the server, as SQLAlchemy's async engine takes it; dropped at the end."""
    name = f"test_{uuid4().hex}"
    await _execute(server_url, f'CREATE DATABASE "{name}"')
    try:
        yield _async_url(server_url, database=name)
    finally:
        await _execute(server_url, f'DROP DATABASE "{name}" WITH (FORCE)')


async def _execute(url: str, statement: str) -> None:
    """Outside a transaction, as making databases wants it."""
    engine = create_async_engine(_async_url(url), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    try:
        async with engine.connect() as connection:
            await connection.execute(text(statement))
    finally:
        await engine.dispose()


def _async_url(url: str, *, database: str | None = None) -> str:
    parsed = make_url(url).set(drivername="postgresql+asyncpg")
    return (parsed.set(database=database) if database else parsed).render_as_string(hide_password=False)
