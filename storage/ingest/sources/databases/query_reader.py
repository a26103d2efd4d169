"""Reads the rows of a query, in a transaction that cannot write: of PostgreSQL, or of an SQLite file.

Each pass is one statement in a transaction of its own, limited in time. A message of the database is shown, since it
names what is wrong with the query; the password is never in it.
"""

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from sqlalchemy import text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from storage.ingest.sources.addresses import AddressRefused
from storage.ingest.sources.databases.checked_loop import CheckedLoop

BATCH_ROWS: Final = 200  # few, so that nothing else waits long while they are converted
_STATEMENT_TIMEOUT_S: Final = 300
_CONNECT_TIMEOUT_S: Final = 20
_PROGRESS_STEPS: Final = 10_000  # of SQLite's machine, between two looks at the clock
_MAX_MESSAGE_CHARACTERS: Final = 300
QueryRow: TypeAlias = Sequence[Any]
_LIBRARY_ERRORS: Final = (SQLAlchemyError, sqlite3.Error, OSError, UnicodeError, ValueError)


class QueryFailed(Exception):
    """`reason` is shown to people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseLocation:
    """A file for SQLite, else a server. `tls` is a mode of libpq, such as `verify-full`; empty: as the server likes."""

    file: Path | None = None
    host: str = ""
    port: int = 5432
    database: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    tls: str = ""
    allow_private: bool = False


class QueryReader:
    """`read_rows` yields the names of the columns first, then batches of rows."""

    def __init__(self, location: DatabaseLocation) -> None:
        self._location = location

    def read_rows(
        self, query: str, columns: Sequence[str] = (), key_filter: "KeyFilter | None" = None
    ) -> AsyncGenerator[Sequence[Any]]:
        """`columns` empty: all. Raises `QueryFailed`."""
        names = ", ".join(map(_quote_name, columns)) or "*"
        statement = f"SELECT {names} FROM ({query}\n) AS parley_rows"  # noqa: S608 - the query is an admin's
        if self._location.file is not None:
            return _read_file_rows(self._location.file, statement, key_filter)
        return _read_server_rows(self._location, statement, key_filter)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFilter:
    """Only the rows whose `column` has one of the values."""

    column: str
    values: Sequence[object]


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


async def _read_server_rows(
    location: DatabaseLocation, statement: str, key_filter: KeyFilter | None
) -> AsyncGenerator[Sequence[Any]]:
    url = URL.create(
        "postgresql+asyncpg",
        username=location.user or None,
        password=location.password or None,
        host=location.host,
        port=location.port,
        database=location.database,
        query={"ssl": location.tls} if location.tls else {},
    )
    settings = {
        "statement_timeout": str(_STATEMENT_TIMEOUT_S * 1000),
        "idle_in_transaction_session_timeout": str(_STATEMENT_TIMEOUT_S * 1000),
        "default_transaction_read_only": "on",
        "application_name": "parley",
    }
    loop = CheckedLoop(allow_private=location.allow_private)
    arguments = {"timeout": _CONNECT_TIMEOUT_S, "server_settings": settings, "loop": loop}
    try:
        engine = create_async_engine(url, connect_args=arguments, poolclass=NullPool, hide_parameters=True)
        async with engine.connect() as opened:
            connection = await opened.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True, yield_per=BATCH_ROWS
            )
            clause, parameters = _with_literal_colons(statement), dict[str, object]()
            if key_filter is not None:
                clause += f" WHERE {_with_literal_colons(_quote_name(key_filter.column))} = ANY(:keys)"
                parameters["keys"] = list(key_filter.values)
            result = await connection.stream(text(clause), parameters)
            yield list(result.keys())
            async for batch in result.partitions(BATCH_ROWS):
                yield batch
    except _LIBRARY_ERRORS as exc:
        raise QueryFailed(_reason_of_error(exc, location.password)) from None


def _with_literal_colons(statement: str) -> str:
    """SQLAlchemy takes `:name` for a parameter, so that each colon of the query is escaped."""
    return statement.replace(":", "\\:")


async def _read_file_rows(file: Path, statement: str, key_filter: KeyFilter | None) -> AsyncGenerator[Sequence[Any]]:
    values = () if key_filter is None else tuple(key_filter.values)
    if key_filter is not None:
        statement += f" WHERE {_quote_name(key_filter.column)} IN ({', '.join('?' * len(values))})"
    try:
        connection = await asyncio.to_thread(_open_file, file)
        try:
            cursor = await asyncio.to_thread(connection.execute, statement, values)
            if cursor.description is None:
                raise QueryFailed("the query returns no rows: it is no SELECT")
            yield [str(column[0]) for column in cursor.description]
            while batch := await asyncio.to_thread(cursor.fetchmany, BATCH_ROWS):
                yield batch
        finally:
            await asyncio.to_thread(connection.close)
    except _LIBRARY_ERRORS as exc:
        raise QueryFailed(_reason_of_error(exc, "")) from None


def _open_file(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, check_same_thread=False, isolation_level=None)
    connection.execute("PRAGMA query_only = ON")
    deadline = time.monotonic() + _STATEMENT_TIMEOUT_S
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _PROGRESS_STEPS)
    return connection


def _reason_of_error(exc: Exception, password: str) -> str:
    match exc:
        case AddressRefused():
            return str(exc.strerror)
        case TimeoutError():
            return "the database does not answer in time"
        case OSError():
            return "the database cannot be reached"
        case _:
            pass
    original = getattr(exc, "orig", None) or exc
    state = str(getattr(original, "sqlstate", "") or "")
    if state.startswith("28"):
        return "the database refuses the user or the password"
    if state == "57014" or "interrupted" in str(original):
        return f"the query takes longer than {_STATEMENT_TIMEOUT_S // 60} minutes"
    message = str(original).partition("\n")[0].rpartition(">: ")[2][:_MAX_MESSAGE_CHARACTERS]
    shown = message.replace(password, "…") if password else message
    return f"the database refuses the query: {shown}"
