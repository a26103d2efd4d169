"""Every exception of the database libraries as one of the project's own.

SQLAlchemy wraps what sqlite3 and asyncpg raise; sqlite3's result codes and PostgreSQL's SQLSTATE classes then say more
than its types do. What is not here is a `StatementRefused`; a test lists the libraries' exceptions and finds none.
"""

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

_Kind = (
    type[DatabaseUnavailable]
    | type[DatabaseNotWritable]
    | type[DatabaseDamaged]
    | type[ValueRefused]
    | type[ConstraintBroken]
    | type[StatementRefused]
)

LIBRARY_ERRORS: Final = (sa.SQLAlchemyError, sqlite3.Error, OSError, UnicodeError)
"""What may come out of a statement or a connection."""

# Primary result codes, https://sqlite.org/rescode.html
_BY_SQLITE_CODE: Final[dict[int, _Kind]] = {
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
    17: DatabaseBusy,  # SCHEMA: it changed underneath
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
_BY_SQLSTATE: Final[dict[str, _Kind]] = {
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

# Narrowest first.
_BY_TYPE: Final[tuple[tuple[type[Exception], _Kind], ...]] = (
    (sa.TimeoutError, DatabaseBusy),  # no connection came free
    (sa.DisconnectionError, DatabaseUnavailable),
    (sa.IntegrityError, ConstraintBroken),
    (sa.DataError, ValueRefused),
    (sa.OperationalError, DatabaseUnavailable),
    (sa.InternalError, DatabaseDamaged),
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
    (sqlite3.Error, StatementRefused),  # without a result code: the driver is held wrongly
    (TimeoutError, DatabaseBusy),
    (OSError, DatabaseUnavailable),
    (UnicodeError, ValueRefused),
)


def translated(exc: Exception, where: str) -> SqlError:
    """`where` names the database without its password; the reason is the library's first line, never a value."""
    return (kind_of(exc) or StatementRefused)(where, _reason(exc))


def kind_of(exc: Exception) -> _Kind | None:
    """None for what is not an exception of the libraries."""
    for cause in _causes(exc):
        if (code := getattr(cause, "sqlite_errorcode", None)) is not None:
            return _BY_SQLITE_CODE.get(code & 0xFF)
        if (state := getattr(cause, "sqlstate", None)) is not None:
            return _BY_SQLSTATE.get(state) or _BY_SQLSTATE.get(state[:2])
    if any(isinstance(cause, ValueError) for cause in _causes(exc)):
        return ValueRefused
    return next((kind for type_, kind in _BY_TYPE if isinstance(exc, type_)), None)


def _causes(exc: Exception) -> list[BaseException]:
    """From SQLAlchemy's wrapper to what the driver raised."""
    driver = getattr(exc, "orig", None)
    causes = [exc, driver, getattr(driver, "__cause__", None)]
    return [cause for cause in causes if isinstance(cause, BaseException)]


def _reason(exc: Exception) -> str:
    """What the driver said, without the statement and the values that SQLAlchemy adds."""
    innermost = _causes(exc)[-1]
    if isinstance(innermost, UnicodeError):
        return "a text that is not valid Unicode"
    lines = str(innermost).strip().splitlines()
    return lines[0] if lines else type(innermost).__name__
