"""Every exception of the database libraries has a translation."""

import sqlite3
from collections.abc import Iterator

import asyncpg.exceptions  # pyright: ignore[reportMissingTypeStubs]
import pytest
import sqlalchemy.exc
from sqlalchemy.ext.asyncio import exc as async_exc
from sqlalchemy.orm import exc as orm_exc

from storage.sql import errors
from storage.sql.error_translation import error_class_of, translate_library_error
from storage.sql.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseNotWritable,
    DatabaseUnavailable,
    SqlError,
    ValueRefused,
)


def _subclasses_of(base: type) -> Iterator[type]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from _subclasses_of(subclass)


def _classes_in(module: object, base: type) -> list[type]:
    return [member for member in vars(module).values() if isinstance(member, type) and issubclass(member, base)]


_SQLALCHEMY = [
    error_class
    for module in (sqlalchemy.exc, orm_exc, async_exc)
    for error_class in _classes_in(module, sqlalchemy.exc.SQLAlchemyError)
    if error_class is not sqlalchemy.exc.SQLAlchemyError
]
_POSTGRES = [
    error_class
    for error_class in _classes_in(asyncpg.exceptions, asyncpg.PostgresError)
    if getattr(error_class, "sqlstate", None)
]
_SQLITE = _classes_in(sqlite3, sqlite3.Error)
_SQLITE_CODES = range(1, 29)  # https://sqlite.org/rescode.html, without OK, ROW and DONE


def _wrap_driver_error(driver: Exception, wrapper: type[Exception] = sqlalchemy.exc.DBAPIError) -> Exception:
    """Wrap a driver's exception as SQLAlchemy does."""
    exc = wrapper.__new__(wrapper)
    Exception.__init__(exc, "statement and values")
    exc.__dict__["orig"] = driver
    return exc


def test_every_exception_of_sqlalchemy_is_translated() -> None:
    assert [
        error_class for error_class in _SQLALCHEMY if error_class_of(_create_without_init(error_class)) is None
    ] == []


def test_every_error_of_postgresql_is_translated() -> None:
    assert [
        error_class for error_class in _POSTGRES if error_class_of(_wrap_driver_error(error_class("said"))) is None
    ] == []


def test_every_exception_and_result_code_of_sqlite_is_translated() -> None:
    assert [error_class for error_class in _SQLITE if error_class_of(error_class("said")) is None] == []
    assert [code for code in _SQLITE_CODES if error_class_of(_wrap_driver_error(_sqlite_error(code))) is None] == []


def _create_without_init(library: type[Exception]) -> Exception:
    """Create an exception without calling its `__init__`, whose arguments only the library has."""
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
        (_wrap_driver_error(asyncpg.DeadlockDetectedError("said")), DatabaseBusy),
        (_wrap_driver_error(asyncpg.InvalidPasswordError("said")), DatabaseUnavailable),
        (_wrap_driver_error(asyncpg.ReadOnlySQLTransactionError("said")), DatabaseNotWritable),
        (_wrap_driver_error(asyncpg.DiskFullError("said")), DatabaseNotWritable),
        (_wrap_driver_error(asyncpg.TooManyConnectionsError("said")), DatabaseUnavailable),
        (_wrap_driver_error(asyncpg.InternalServerError("said"), sqlalchemy.exc.InternalError), DatabaseDamaged),
        (_wrap_driver_error(asyncpg.InternalClientError("said"), sqlalchemy.exc.InternalError), DatabaseUnavailable),
    ],
    ids=lambda param: param.__name__ if isinstance(param, type) else type(getattr(param, "orig", param)).__name__,
)
def test_some_translations(raised: Exception, kind: type[SqlError]) -> None:
    assert type(translate_library_error(raised, "here")) is kind


def test_an_exception_that_no_library_raised_has_no_translation() -> None:
    assert error_class_of(KeyError("x")) is None


def test_a_translation_contains_the_first_line_of_the_message_and_no_statement() -> None:
    exc = _wrap_driver_error(asyncpg.DiskFullError("no space\nDETAIL: the row with secret values"))

    error = translate_library_error(exc, "postgresql://h:5432/db")

    assert str(error) == (
        "the database at postgresql://h:5432/db cannot be written (no space); check the rights and the disk"
    )


def test_the_docstring_draws_the_class_tree() -> None:
    drawn = [line.lstrip("│├└─ ").split()[0] for line in (errors.__doc__ or "").splitlines() if "─ " in line]

    assert sorted(drawn) == sorted(error_class.__name__ for error_class in _subclasses_of(SqlError))
