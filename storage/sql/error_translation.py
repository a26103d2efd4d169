"""Translates every exception of the database libraries into one of the project's errors.

SQLAlchemy wraps what sqlite3 and asyncpg raise; sqlite3's result codes and PostgreSQL's SQLSTATE classes then tell more
than SQLAlchemy's types. Any other exception becomes `StatementRefused`; a test lists the libraries' exceptions and
checks that none is missing here.
"""

import socket
import sqlite3
from typing import Final

import sqlalchemy.exc as sa
from sqlalchemy.orm import exc as orm

from storage.sql.errors import (
    ConstraintBroken,
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseNotWritable,
    DatabaseUnavailable,
    SqlError,
    StatementRefused,
    ValueRefused,
)

_ErrorClass = (
    type[DatabaseUnavailable]
    | type[DatabaseNotWritable]
    | type[DatabaseDamaged]
    | type[ValueRefused]
    | type[ConstraintBroken]
    | type[StatementRefused]
)

LIBRARY_ERRORS: Final = (sa.SQLAlchemyError, sqlite3.Error, OSError, UnicodeError)
"""The exceptions that a statement or a connection may raise."""

# Primary result codes, https://sqlite.org/rescode.html
_BY_SQLITE_CODE: Final[dict[int, _ErrorClass]] = {
    1: StatementRefused,
    2: DatabaseDamaged,
    3: DatabaseNotWritable,  # PERM
    4: DatabaseBusy,  # ABORT
    5: DatabaseBusy,
    6: DatabaseBusy,  # LOCKED
    7: DatabaseUnavailable,  # NOMEM
    8: DatabaseNotWritable,  # READONLY
    9: DatabaseBusy,  # INTERRUPT
    10: DatabaseNotWritable,  # IOERR
    11: DatabaseDamaged,  # CORRUPT
    12: StatementRefused,
    13: DatabaseNotWritable,  # FULL
    14: DatabaseNotWritable,  # CANTOPEN
    15: DatabaseBusy,  # PROTOCOL: lost a race for the lock
    16: StatementRefused,
    17: DatabaseBusy,  # SCHEMA: it changed meanwhile
    18: ValueRefused,  # TOOBIG
    19: ConstraintBroken,
    20: ValueRefused,  # MISMATCH
    21: StatementRefused,  # MISUSE
    22: DatabaseNotWritable,  # NOLFS
    23: DatabaseNotWritable,  # AUTH
    24: DatabaseDamaged,
    25: StatementRefused,  # RANGE
    26: DatabaseDamaged,  # NOTADB
    27: StatementRefused,
    28: StatementRefused,
}

# https://www.postgresql.org/docs/current/errcodes-appendix.html
_BY_SQLSTATE: Final[dict[str, _ErrorClass]] = {
    "25006": DatabaseNotWritable,  # read only transaction: a standby
    "42501": DatabaseNotWritable,  # insufficient privilege
    "53100": DatabaseNotWritable,  # disk full
    "57014": DatabaseBusy,  # cancelled: a statement timeout
    "08": DatabaseUnavailable,
    "0Z": StatementRefused,
    "28": DatabaseUnavailable,  # authorization
    "3D": DatabaseUnavailable,  # no such database
    "40": DatabaseBusy,  # serialisation failure, deadlock
    "53": DatabaseUnavailable,  # too many connections, out of memory
    "54": ValueRefused,  # program limit exceeded
    "55": DatabaseBusy,  # lock not available
    "57": DatabaseUnavailable,  # shut down, starting up
    "58": DatabaseUnavailable,  # its machine's errors
    "F0": DatabaseUnavailable,  # its configuration
    "XX": DatabaseDamaged,
    "21": ValueRefused,
    "22": ValueRefused,
    "23": ConstraintBroken,
    "27": ConstraintBroken,
    "44": ConstraintBroken,
} | dict.fromkeys(
    (
        *("03", "09", "0A", "0B", "0F", "0L", "0P", "10", "20", "24", "25", "26", "2B", "2D", "2F", "34", "38", "39"),
        *("3B", "3F", "42", "72", "HV", "P0"),
    ),
    StatementRefused,
)

_ROLLED_BACK_FOR_OTHERS: Final = frozenset({"40001", "40P01"})  # serialisation failure, deadlock
_CONNECTION_LOST: Final = frozenset(
    {
        "25P03",  # the transaction was idle for too long: this process was stopped for a while
        "53300",  # too many connections
        "57P01",  # admin shutdown
        "57P02",  # crash shutdown
        "57P03",  # starting up
        "57P05",  # the session was idle for too long
    }
)

# How asyncpg's messages begin.
_REFUSED_ARGUMENT: Final = "invalid input for query argument"
_CONNECTION_ENDING: Final = "cannot switch to state"  # the server has said why it ends the connection, and ends it now

# Narrowest first.
_BY_TYPE: Final[tuple[tuple[type[Exception], _ErrorClass], ...]] = (
    (sa.TimeoutError, DatabaseBusy),  # no connection came free
    (sa.DisconnectionError, DatabaseUnavailable),
    (sa.IntegrityError, ConstraintBroken),
    (sa.DataError, ValueRefused),
    (sa.OperationalError, DatabaseUnavailable),
    (sa.InternalError, DatabaseUnavailable),  # without a code of the server: the driver lost track of a connection
    (sa.ProgrammingError, StatementRefused),
    (sa.NotSupportedError, StatementRefused),
    (sa.DatabaseError, StatementRefused),
    (sa.InterfaceError, DatabaseUnavailable),
    (sa.DBAPIError, DatabaseUnavailable),
    (sa.StatementError, ValueRefused),  # a value that could not be bound
    (sa.ArgumentError, StatementRefused),
    (sa.CircularDependencyError, StatementRefused),
    (sa.CompileError, StatementRefused),
    (sa.IdentifierError, StatementRefused),
    (sa.InvalidRequestError, StatementRefused),
    (orm.StaleDataError, StatementRefused),
    (orm.FlushError, StatementRefused),
    (orm.ObjectDereferencedError, StatementRefused),
    (orm.DetachedInstanceError, StatementRefused),
    (sqlite3.Error, StatementRefused),  # without a result code: the driver is used wrongly
    (TimeoutError, DatabaseBusy),
    (OSError, DatabaseUnavailable),
    (UnicodeError, ValueRefused),
)


def translate_library_error(exc: Exception, location: str) -> SqlError:
    """Returns the project's error for a library exception.

    `location` names the database without its password. The reason is the first line of the library's message and never
    contains a value.
    """
    return (error_class_of(exc) or StatementRefused)(location, _first_line_of_reason(exc))


def error_class_of(exc: Exception) -> _ErrorClass | None:
    """Returns the project's error class, or None if the exception is not from the libraries."""
    for cause in _cause_chain_of(exc):
        if (code := getattr(cause, "sqlite_errorcode", None)) is not None:
            return _BY_SQLITE_CODE.get(code & 0xFF)
        if (sqlstate := getattr(cause, "sqlstate", None)) is not None:
            return _BY_SQLSTATE.get(sqlstate) or _BY_SQLSTATE.get(sqlstate[:2])
    if any(isinstance(cause, ValueError) for cause in _cause_chain_of(exc)):
        return ValueRefused
    return next((error_class for exception_type, error_class in _BY_TYPE if isinstance(exc, exception_type)), None)


def is_rolled_back_for_others(exc: Exception) -> bool:
    """Whether the server has rolled the transaction back because of a concurrent one."""
    return _sqlstate_of(exc) in _ROLLED_BACK_FOR_OTHERS


def is_transient_failure(exc: Exception) -> bool:
    """Whether the same transaction may succeed in a moment: PostgreSQL rolled it back because of others, or the
    connection was lost or refused. False for a statement that ran out of time.
    """
    sqlstate = _sqlstate_of(exc)
    if sqlstate is not None:
        return sqlstate.startswith("08") or sqlstate in _CONNECTION_LOST | _ROLLED_BACK_FOR_OTHERS
    if isinstance(exc, sa.DBAPIError) and (exc.connection_invalidated or is_connection_ending(exc)):
        return True
    return isinstance(exc, OSError) and not isinstance(exc, (TimeoutError, socket.gaierror))


def is_connection_ending(exc: BaseException) -> bool:
    """Whether the driver has not sent a statement, because the server is just ending the connection.

    asyncpg 0.32 raises this between the server's last message and the end of the connection (`CoreProtocol._set_state`
    in `asyncpg/protocol/coreproto.pyx`).
    """
    return any(str(cause).startswith(_CONNECTION_ENDING) for cause in _cause_chain_of(exc))


def _sqlstate_of(exc: Exception) -> str | None:
    states = (getattr(cause, "sqlstate", None) for cause in _cause_chain_of(exc))
    return next((state for state in states if isinstance(state, str)), None)


def _cause_chain_of(exc: BaseException) -> list[BaseException]:
    """Returns the exceptions from SQLAlchemy's wrapper to the driver's cause."""
    driver_error = getattr(exc, "orig", None)
    causes = [exc, driver_error, getattr(driver_error, "__cause__", None)]
    return [cause for cause in causes if isinstance(cause, BaseException)]


def _first_line_of_reason(exc: Exception) -> str:
    """Returns the first line of the driver's message, without the statement and values that SQLAlchemy adds."""
    innermost = _cause_chain_of(exc)[-1]
    if isinstance(innermost, UnicodeError):
        return "a text that is not valid Unicode"
    lines = str(innermost).strip().splitlines()
    if lines and lines[0].startswith(_REFUSED_ARGUMENT):  # the value follows
        return "a value does not fit the type of its column"
    return lines[0] if lines else type(innermost).__name__
