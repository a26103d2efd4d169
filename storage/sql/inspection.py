"""Inspects a database without changing it: its schema, and whether the server and the rights fit.

A fault names what is wrong and what to do about it.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, inspect, text
from sqlalchemy.engine import Row

from storage.sql.database import SqlDatabase
from storage.sql.database_url import display_url, is_file_url, parse_database_url
from storage.sql.errors import SqlError
from storage.sql.migrations import HEAD
from storage.sql.migrations.upgrade import PendingRevision, list_pending_revisions, read_current_revision
from storage.sql.server_transactions import DEFAULT_TIMEOUTS, POOL_SIZE

UPGRADE_COMMAND: Final = "parley db upgrade"
_OLDEST_SERVER: Final = 13  # the oldest major version with which Parley is expected to work
_MAX_CLOCK_DIFFERENCE: Final = timedelta(seconds=5)  # leases follow the clocks of the processes
_DURABILITY_SETTINGS: Final = ("fsync", "full_page_writes", "synchronous_commit")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFinding:
    """One inspected item. `fault`: what is wrong and how to fix it."""

    name: str
    value: str
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseInspection:
    """`revision` of the schema: None before the first upgrade, and if it may not be read. `pending`: the revisions that
    an upgrade would run.
    """

    location: str
    revision: str | None
    pending: Sequence[PendingRevision]
    findings: Sequence[DatabaseFinding]

    @property
    def faults(self) -> list[str]:
        return [f"{finding.name}: {finding.fault}" for finding in self.findings if finding.fault is not None]


async def inspect_database(url: str, *, clock: Callable[[], datetime], process_count: int) -> DatabaseInspection:
    """Inspect the database at `url`; `process_count` processes of one installation use it.

    Raises `InvalidDatabaseUrl`.
    """
    parsed_url = parse_database_url(url)
    inspect_content = _inspect_file if is_file_url(parsed_url) else partial(_inspect_server, process_count)
    location = display_url(parsed_url)
    if is_file_url(parsed_url) and not await asyncio.to_thread(Path(parsed_url.database or "").exists):
        return _build_inspection(location, None, ())
    try:
        async with SqlDatabase.open_unchanged(url, clock=clock) as database:
            return await database.run_read(partial(inspect_content, database))
    except SqlError as exc:
        finding = DatabaseFinding(name="connection", value="none", fault=str(exc))
        return DatabaseInspection(location=location, revision=None, pending=(), findings=(finding,))


def _inspect_file(database: SqlDatabase, connection: Connection) -> DatabaseInspection:
    findings = [
        DatabaseFinding(name="engine", value=f"SQLite {sqlite3.sqlite_version}"),
        _expect_value("encoding", str(connection.execute(text("PRAGMA encoding")).scalar()), "UTF-8", _NEW_FILE),
        _expect_value("journal", str(connection.execute(text("PRAGMA journal_mode")).scalar()), "wal", UPGRADE_COMMAND),
    ]
    return _build_inspection(database.location, read_current_revision(connection), findings)


def _inspect_server(process_count: int, database: SqlDatabase, connection: Connection) -> DatabaseInspection:
    server = connection.execute(_SERVER_QUERY).one()
    findings = [
        _check_server_version(server),
        _expect_value("encoding", server.encoding, "UTF8", _NEW_DATABASE),
        _check_writability(server),
        _check_durability(server),
        _check_session_settings(server),
        _check_clock(server, database.utc_now()),
        _check_connection_limit(server, process_count),
        _check_schema_rights(server),
        _check_table_rights(connection),
    ]
    if not connection.execute(_MAY_READ_REVISION_QUERY).scalar_one():
        return DatabaseInspection(location=database.location, revision=None, pending=(), findings=findings)
    return _build_inspection(database.location, read_current_revision(connection), findings)


def _build_inspection(location: str, revision: str | None, findings: Sequence[DatabaseFinding]) -> DatabaseInspection:
    pending = list_pending_revisions(revision)
    schema = DatabaseFinding(
        name="schema", value=f"revision {revision or 'none'} of {HEAD}", fault=_schema_fault_of(revision, pending)
    )
    return DatabaseInspection(location=location, revision=revision, pending=pending, findings=(schema, *findings))


def _schema_fault_of(revision: str | None, pending: Sequence[PendingRevision]) -> str | None:
    if revision is not None and revision > HEAD:
        return f"a later Parley has written it (revision {revision}; this one knows {HEAD}); update Parley"
    if revision is None:
        return f"there are no tables yet; create them with {UPGRADE_COMMAND}, or start Parley"
    return f"{len(pending)} to run; upgrade it with {UPGRADE_COMMAND}, or start Parley" if pending else None


def _expect_value(name: str, value: str, expected: str, fix: str) -> DatabaseFinding:
    fault = None if value == expected else f"it is {value} and has to be {expected}: {fix}"
    return DatabaseFinding(name=name, value=value, fault=fault)


def _check_server_version(server: Row[Any]) -> DatabaseFinding:
    is_too_old = int(server.version_number) // 10_000 < _OLDEST_SERVER
    fault = f"Parley needs PostgreSQL {_OLDEST_SERVER} or later; upgrade the server" if is_too_old else None
    return DatabaseFinding(name="engine", value=f"PostgreSQL {server.version}", fault=fault)


def _check_writability(server: Row[Any]) -> DatabaseFinding:
    fault = None
    if server.is_standby:
        fault = "this server is a standby; put the host of the primary into PARLEY_DATABASE_URL"
    elif server.read_only == "on":
        fault = f"transactions are read-only; ALTER ROLE {server.role} SET default_transaction_read_only = off"
    return DatabaseFinding(name="writes", value="refused" if fault else "allowed", fault=fault)


def _check_durability(server: Row[Any]) -> DatabaseFinding:
    """An acknowledged message has to survive a crash of the server."""
    off = [name for name in _DURABILITY_SETTINGS if getattr(server, name) == "off"]
    fault = (
        f"a crash of the server loses messages that were acknowledged; set in postgresql.conf:"
        f" {', '.join(f'{name} = on' for name in off)}"
        if off
        else None
    )
    return DatabaseFinding(name="durability", value=f"{', '.join(off)} off" if off else "on", fault=fault)


def _check_session_settings(server: Row[Any]) -> DatabaseFinding:
    """A connection pooler between Parley and the server may drop what Parley sets for its sessions."""
    expected_ms = str(int(DEFAULT_TIMEOUTS.statement.total_seconds() * 1000))
    fault = (
        "a connection pooler changes the settings of the session; let Parley connect to the server itself, or let"
        " the pooler keep one server connection for each session"
        if server.statement_timeout_ms != expected_ms or server.isolation != "read committed"
        else None
    )
    value = f"{int(server.statement_timeout_ms) / 1000:g} s a statement, {server.isolation}"
    return DatabaseFinding(name="session", value=value, fault=fault)


def _check_clock(server: Row[Any], now: datetime) -> DatabaseFinding:
    difference = abs(server.server_time.astimezone(UTC) - now)
    fault = (
        "leases of turns expire too early or too late; synchronise the clocks of both machines (NTP)"
        if difference > _MAX_CLOCK_DIFFERENCE
        else None
    )
    return DatabaseFinding(name="clock", value=f"{difference.total_seconds():.1f} s from this machine's", fault=fault)


def _check_connection_limit(server: Row[Any], process_count: int) -> DatabaseFinding:
    needed = process_count * POOL_SIZE
    limits = [int(server.max_connections) - int(server.reserved_connections)]
    limits += [limit for limit in (server.role_limit, server.database_limit) if limit >= 0]
    fault = (
        f"one parley serve with these settings may use {needed}; raise max_connections in postgresql.conf and restart"
        " the server (and the CONNECTION LIMIT of the role and the database), or lower PARLEY_WORKERS"
        if min(limits) < needed
        else None
    )
    return DatabaseFinding(
        name="connections", value=f"{min(limits)}, of which one service may use {needed}", fault=fault
    )


def _check_schema_rights(server: Row[Any]) -> DatabaseFinding:
    schema = server.schema
    if schema is None:
        return DatabaseFinding(
            name="tables",
            value="none",
            fault=f"the role has no schema: GRANT USAGE, CREATE ON SCHEMA public TO {server.role}",
        )
    fault = (
        None
        if server.can_create
        else f"{server.role} may not create tables, so another role has to run {UPGRADE_COMMAND}, or:"
        f" GRANT CREATE ON SCHEMA {schema} TO {server.role}"
    )
    return DatabaseFinding(name="tables", value=f"in the schema {schema}", fault=fault)


def _check_table_rights(connection: Connection) -> DatabaseFinding:
    """Also of the sequences that number rows."""
    names = inspect(connection).get_table_names()
    rows = connection.execute(_TABLE_RIGHTS_QUERY, {"names": names}).all()
    refused = [row.name for row in rows if not row.is_usable]
    role = rows[0].role if rows else ""
    fault = (
        f"{role} may not use {', '.join(sorted(refused))}: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA"
        f" {rows[0].schema} TO {role}; GRANT USAGE ON ALL SEQUENCES IN SCHEMA {rows[0].schema} TO {role}"
        if refused
        else None
    )
    return DatabaseFinding(name="rights", value=f"on {len(rows) - len(refused)} of {len(rows)} tables", fault=fault)


_NEW_FILE: Final = "back it up, and restore it into a new database"
_NEW_DATABASE: Final = "CREATE DATABASE parley ENCODING 'UTF8' TEMPLATE template0, and use that"
_SERVER_QUERY: Final = text(
    """
    SELECT current_setting('server_version') AS version,
           current_setting('server_version_num') AS version_number,
           current_setting('server_encoding') AS encoding,
           current_setting('fsync') AS fsync,
           current_setting('full_page_writes') AS full_page_writes,
           current_setting('synchronous_commit') AS synchronous_commit,
           current_setting('default_transaction_read_only') AS read_only,
           current_setting('transaction_isolation') AS isolation,
           current_setting('max_connections') AS max_connections,
           current_setting('superuser_reserved_connections') AS reserved_connections,
           (SELECT setting FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout_ms,
           pg_is_in_recovery() AS is_standby,
           clock_timestamp() AS server_time,
           current_user AS role,
           quote_ident(current_schema()) AS schema,
           has_schema_privilege(current_schema(), 'CREATE') AS can_create,
           (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role_limit,
           (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database_limit
    """
)
_MAY_READ_REVISION_QUERY: Final = text(
    "SELECT to_regclass('alembic_version') IS NULL OR has_table_privilege(to_regclass('alembic_version'), 'SELECT')"
)
_TABLE_RIGHTS_QUERY: Final = text(
    """
    SELECT relname AS name, current_user AS role, quote_ident(current_schema()) AS schema,
           has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
           AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')
           AND NOT EXISTS (
               SELECT FROM pg_depend JOIN pg_sequence ON seqrelid = objid
               WHERE refobjid = pg_class.oid AND NOT has_sequence_privilege(seqrelid, 'USAGE')
           ) AS is_usable
    FROM pg_class
    WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relkind = 'r' AND relname = ANY(:names)
    ORDER BY relname
    """
)
