"""No exception of a library has no translation."""

import sqlite3
from collections.abc import Iterator

import asyncpg.exceptions  # pyright: ignore[reportMissingTypeStubs]
import pytest
import sqlalchemy.exc
from sqlalchemy.ext.asyncio import exc as async_exc
from sqlalchemy.orm import exc as orm_exc

from storage.sql import errors
from storage.sql.errors import DatabaseBusy, DatabaseNotWritable, DatabaseUnavailable, SqlError, ValueRefused
from storage.sql.translate import kind_of, translated


def _below(base: type) -> Iterator[type]:
    for sub in base.__subclasses__():
        yield sub
        yield from _below(sub)


def _named(module: object, base: type) -> list[type]:
    return [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, base)]


_SQLALCHEMY = [
    each
    for module in (sqlalchemy.exc, orm_exc, async_exc)
    for each in _named(module, sqlalchemy.exc.SQLAlchemyError)
    if each is not sqlalchemy.exc.SQLAlchemyError
]
_POSTGRES = [each for each in _named(asyncpg.exceptions, asyncpg.PostgresError) if getattr(each, "sqlstate", None)]
_SQLITE = _named(sqlite3, sqlite3.Error)
_SQLITE_CODES = range(1, 29)  # https://sqlite.org/rescode.html, without OK, ROW and DONE


def _wrapped(driver: Exception, wrapper: type[Exception] = sqlalchemy.exc.DBAPIError) -> Exception:
    """As SQLAlchemy wraps what a driver raised."""
    exc = wrapper.__new__(wrapper)
    Exception.__init__(exc, "statement and values")
    exc.__dict__["orig"] = driver
    return exc


def test_every_exception_of_sqlalchemy_is_translated() -> None:
    assert [each for each in _SQLALCHEMY if kind_of(_bare(each)) is None] == []


def test_every_error_of_postgresql_is_translated() -> None:
    assert [each for each in _POSTGRES if kind_of(_wrapped(each("said"))) is None] == []


def test_every_exception_and_result_code_of_sqlite_is_translated() -> None:
    assert [each for each in _SQLITE if kind_of(each("said")) is None] == []
    assert [code for code in _SQLITE_CODES if kind_of(_wrapped(_sqlite_error(code))) is None] == []


def _bare(library: type[Exception]) -> Exception:
    """Without its own `__init__`, which asks for what only the library has."""
    return library.__new__(library)


def _sqlite_error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("said")
    error.sqlite_errorcode = code | (3 << 8)  # an extended code
    return error


def test_the_lists_are_not_empty() -> None:
    assert len(_SQLALCHEMY) > 40
    assert len(_POSTGRES) > 200
    assert len(_SQLITE) == 9


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (ConnectionRefusedError(), DatabaseUnavailable),
        (TimeoutError(), DatabaseBusy),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), ValueRefused),
        (_wrapped(asyncpg.DeadlockDetectedError("said")), DatabaseBusy),
        (_wrapped(asyncpg.InvalidPasswordError("said")), DatabaseUnavailable),
        (_wrapped(asyncpg.ReadOnlySQLTransactionError("said")), DatabaseNotWritable),
        (_wrapped(asyncpg.DiskFullError("said")), DatabaseNotWritable),
        (_wrapped(asyncpg.TooManyConnectionsError("said")), DatabaseUnavailable),
    ],
    ids=lambda each: each.__name__ if isinstance(each, type) else type(getattr(each, "orig", each)).__name__,
)
def test_some_translations(raised: Exception, kind: type[SqlError]) -> None:
    assert type(translated(raised, "here")) is kind


def test_an_exception_that_no_library_raised_has_no_translation() -> None:
    assert kind_of(KeyError("x")) is None


def test_a_translation_holds_the_first_line_of_what_was_said_and_no_statement() -> None:
    exc = _wrapped(asyncpg.DiskFullError("no space\nDETAIL: the row with secret values"))

    error = translated(exc, "postgresql://h:5432/db")

    assert str(error) == (
        "the database at postgresql://h:5432/db cannot be written (no space); check the rights and the disk"
    )


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = [line.lstrip("│├└─ ").split()[0] for line in (errors.__doc__ or "").splitlines() if "─ " in line]

    assert sorted(drawn) == sorted(each.__name__ for each in _below(SqlError))
